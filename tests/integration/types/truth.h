/* SPDX-License-Identifier: MIT */
/* The programs of this test write their own memory into the file that the environment
 * variable TRUTH names. They write the address of each object, and by offsetof the
 * offsets of its items' fields. The compiler gives these, not the debug information. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function with calls, which compilers may not copy. */
#if __has_attribute(noclone)
#define ONE_FUNCTION __attribute__((noinline, noclone))
#else
#define ONE_FUNCTION __attribute__((noinline))
#endif

/* FUNCTION, which adds up the last argument in each turn of a loop. */
#define ADDS(type, function, parameters, turns, ...)                                     \
        __attribute__((noinline)) static type function parameters                        \
        {                                                                                \
                type sum = 0;                                                            \
                                                                                         \
                for                                                                      \
                        turns sum += __VA_ARGS__;                                        \
                return sum;                                                              \
        }

/* C++: the last argument of ONE in ALL. */
#define ADDS_EACH(type, function, parameters, one, all, ...)                             \
        ADDS(type, function, parameters, (const auto &one : all), __VA_ARGS__)

/* Without fprintf, which would make most of the program's loads. */
static FILE *truth_file;
static char truth_text[1 << 16];
static size_t truth_bytes;

static inline void truth_open(void)
{
        const char *path = getenv("TRUTH");

        truth_file = path ? fopen(path, "w") : NULL;
        if (!truth_file)
                exit(3);
}

static inline void truth_write(void)
{
        if (fwrite(truth_text, 1, truth_bytes, truth_file) != truth_bytes)
                exit(3);
        truth_bytes = 0;
}

static inline void truth_close(void)
{
        truth_write();
        if (fclose(truth_file) != 0)
                exit(3);
}

static inline void truth_word(const char *word, char end)
{
        size_t bytes = strlen(word);

        if (bytes >= sizeof(truth_text) - truth_bytes)
                truth_write();
        memcpy(truth_text + truth_bytes, word, bytes);
        truth_text[truth_bytes + bytes] = end;
        truth_bytes += bytes + 1;
}

static inline void truth_number(size_t number, char end)
{
        char digits[24];
        char *first = digits + sizeof(digits);

        *--first = 0;
        do
                *--first = (char)('0' + number % 10);
        while (number /= 10);
        truth_word(first, end);
}

/* ITEMS items of TYPE, ITEM_BYTES each, from START on; of kind KIND and NAME. Samples in
 * FUNCTION only, unless it is "*": memory that is used again is another object there. */
static inline void truth_object(const char *kind, const char *name, const char *type,
                                const void *start, size_t item_bytes, size_t items,
                                const char *function)
{
        truth_word("object", '\t');
        truth_word(kind, '\t');
        truth_word(name, '\t');
        truth_word(type, '\t');
        truth_number((size_t)start, '\t');
        truth_number(item_bytes, '\t');
        truth_number(items, '\t');
        truth_word(function, '\n');
}

/* A field of TYPE. ALSO names other true answers, as "type:field type:field", spaces
 * inside as ~. */
static inline void truth_field(const char *type, const char *field, size_t offset,
                               size_t bytes, const char *also)
{
        truth_word("field", '\t');
        truth_word(type, '\t');
        truth_word(field, '\t');
        truth_number(offset, '\t');
        truth_number(bytes, '\t');
        truth_word(also, '\n');
}

/* ITEMS items from START on in a block that the function SITE allocates. */
#define TRUTH_HEAP(site, type, start, items)                                             \
        truth_object("heap", site " at ", type, start, sizeof(*(start)), items, "*")

/* The same for a C type by its name, wherever START points to. */
#define TRUTH_ITEMS(site, type, start, items)                                            \
        truth_object("heap", site " at ", #type, start, sizeof(type), items, "*")

/* C's structs; MEMBER is a path as in the source. */
#define TRUTH_FIELD(tag, member)                                                         \
        truth_field("struct " #tag, #member, offsetof(struct tag, member),               \
                    sizeof(((struct tag *)0)->member), "")

/* An array, which is named with brackets. */
#define TRUTH_ARRAY(tag, member)                                                         \
        truth_field("struct " #tag, #member "[]", offsetof(struct tag, member),          \
                    sizeof(((struct tag *)0)->member), "")

/* MEMBER of OUTER, a struct INNER in the struct TAG: it is the inner struct's as well. */
#define TRUTH_INNER(tag, outer, inner, member)                                           \
        truth_field("struct " #tag, #outer "." #member,                                  \
                    offsetof(struct tag, outer.member),                                  \
                    sizeof(((struct inner *)0)->member), "struct~" #inner ":" #member)

/* Up to six MEMBERS of a struct. */
#define TRUTH_FIELDS(tag, ...)                                                           \
        TRUTH_CHOSEN(__VA_ARGS__, TRUTH_6, TRUTH_5, TRUTH_4, TRUTH_3, TRUTH_2,           \
                     TRUTH_1, )                                                          \
        (tag, __VA_ARGS__)
#define TRUTH_CHOSEN(m1, m2, m3, m4, m5, m6, macro, ...) macro
#define TRUTH_1(tag, member)                             TRUTH_FIELD(tag, member)
#define TRUTH_2(tag, member, ...)                        TRUTH_FIELD(tag, member), TRUTH_1(tag, __VA_ARGS__)
#define TRUTH_3(tag, member, ...)                        TRUTH_FIELD(tag, member), TRUTH_2(tag, __VA_ARGS__)
#define TRUTH_4(tag, member, ...)                        TRUTH_FIELD(tag, member), TRUTH_3(tag, __VA_ARGS__)
#define TRUTH_5(tag, member, ...)                        TRUTH_FIELD(tag, member), TRUTH_4(tag, __VA_ARGS__)
#define TRUTH_6(tag, member, ...)                        TRUTH_FIELD(tag, member), TRUTH_5(tag, __VA_ARGS__)

#endif
