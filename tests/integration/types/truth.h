/* SPDX-License-Identifier: MIT */
/* What the programs of this test say about their own memory, into the file that the
 * environment variable TRUTH names: where each object is, and by offsetof where the
 * fields of its items are. The compiler's word, not the debug information's. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* A function with calls, as it is written: no compiler's copy of it. */
#if __has_attribute(noclone)
#define ONE_FUNCTION __attribute__((noinline, noclone))
#else
#define ONE_FUNCTION __attribute__((noinline))
#endif

#ifdef __cplusplus
#define ONLY_CALLED extern "C" ONE_FUNCTION __attribute__((cold))
#define ALIGN_OF    alignof
#else
#define ONLY_CALLED __attribute__((noinline, cold))
#endif

static FILE *truth_file;

static inline void truth_open(void)
{
        const char *path = getenv("TRUTH");

        truth_file = path ? fopen(path, "w") : NULL;
        if (!truth_file)
                exit(3);
}

static inline void truth_close(void)
{
        if (fclose(truth_file) != 0)
                exit(3);
}

/* ITEMS items of TYPE, ITEM_BYTES each, from START on; of kind KIND and NAME. Samples in
 * FUNCTION only, unless it is "*": memory that is used again is another object there. */
static inline void truth_object(const char *kind, const char *name, const char *type,
                                const void *start, size_t item_bytes, size_t items,
                                const char *function)
{
        fprintf(truth_file, "object\t%s\t%s\t%s\t%zu\t%zu\t%zu\t%s\n", kind, name, type,
                (size_t)start, item_bytes, items, function);
}

/* A field of TYPE. ALSO names other true answers, as "type:field type:field", spaces
 * inside as ~. */
static inline void truth_field(const char *type, const char *field, size_t offset,
                               size_t bytes, const char *also)
{
        fprintf(truth_file, "field\t%s\t%s\t%zu\t%zu\t%s\n", type, field, offset, bytes,
                also);
}

/* C's structs; MEMBER is a path as in the source. */
#define TRUTH_FIELD(tag, member)                                                         \
        truth_field("struct " #tag, #member, offsetof(struct tag, member),               \
                    sizeof(((struct tag *)0)->member), "")

#endif
