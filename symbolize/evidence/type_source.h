/* SPDX-License-Identifier: MIT */
/* The evidence for a sample's type, for users to check. The database has each once. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_SOURCE_H
#define MEMLAG_SYMBOLIZE_TYPE_SOURCE_H

#include <stdint.h>

#include "hash_index.h"

enum type_source_kind {
        TYPE_BY_NOTHING,     /* it is not known */
        TYPE_BY_VARIABLE,    /* the variable at the address declares it */
        TYPE_BY_ALLOCATION,  /* POINTER holds the block after the call at PLACE */
        TYPE_BY_INSTRUCTION, /* the address comes from POINTER */
        TYPE_BY_ARGUMENT,    /* the call at PLACE passes POINTER */
        TYPE_BY_FUNCTION,    /* the function reads texts */
        TYPE_SOURCE_KINDS
};

#define TYPE_SOURCE_NO_PLACE UINT32_MAX

struct type_source {
        enum type_source_kind kind;
        uint32_t pointer; /* its name; 0: not known */
        uint32_t place;   /* of the sweep; TYPE_SOURCE_NO_PLACE: none */
};

/* Zero-initialised: none. */
struct type_sources {
        HASHED(struct type_source); /* ids are indexes + 1 */
};

/* KIND's name in the database. */
const char *type_source_word(enum type_source_kind kind);

/* ID becomes SOURCE's number; 0: no source. 0 or -ENOMEM. */
int type_sources_add(struct type_sources *sources, const struct type_source *source,
                     uint32_t *id);
void type_sources_free(struct type_sources *sources);

/* The reason why a sample's type is not known. */
enum untyped {
        TYPED,
        UNTYPED_NO_ADDRESS,
        UNTYPED_NO_DEBUG_INFO,
        UNTYPED_ASSEMBLER,
        UNTYPED_NO_INSTRUCTION,
        UNTYPED_NO_OPERAND,
        UNTYPED_TOO_LARGE,
        UNTYPED_NOT_DECODED,
        UNTYPED_UNKNOWN_BASE,
        UNTYPED_SAVED,
        UNTYPED_NO_VARIABLE,
        UNTYPED_CONSTANT,
        UNTYPED_LINKAGE,
        UNTYPED_INCOMPLETE,
        UNTYPED_BYTES,
        UNTYPED_PADDING,
        UNTYPED_OUTSIDE,
        UNTYPED_INDEX,
        UNTYPED_NO_DWZ,
        UNTYPED_CONTRADICTED,
        UNTYPED_MERGED,
        UNTYPED_THUNK,
        UNTYPED_OTHER_TYPE,
        UNTYPED_COUNT
};

/* The reason in words, such as "unknown base register"; NULL for TYPED. */
const char *untyped_reason(enum untyped reason);

#endif
