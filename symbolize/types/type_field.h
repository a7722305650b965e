/* SPDX-License-Identifier: MIT */
/* The field at an offset of a type. Types are only read; new names go into the pool. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_FIELD_H
#define MEMLAG_SYMBOLIZE_TYPE_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "string_pool.h"
#include "type_access.h"
#include "type_table.h"

enum field_outcome {
        FIELD_FOUND,
        FIELD_WHOLE,   /* the type has no fields: a number or a pointer */
        FIELD_PADDING, /* nothing lies there */
        FIELD_BEYOND,  /* outside of the type */
        FIELD_OPAQUE,  /* the type's fields are not known */
        FIELD_OTHER    /* the access contradicts the field */
};

/* The field at an offset. Array indexes are left out: NAME is "a.b[].c", and offset_bytes
 * is for index 0. If several overlapping fields fit, NAME lists them, see type_path.h:
 * "u.word|half". Fields of a base class begin with the innermost class if other fields
 * have the name: "Base::a". */
struct field {
        uint32_t name; /* 0 unless FOUND */
        uint32_t type; /* TYPE_NONE: several fields */
        uint64_t offset_bytes;
        uint64_t size_bytes;
        bool shared; /* NAME has several fields */
        bool named;  /* the source names all of NAME */
};

/* Finds the field of TYPE at OFFSET_BYTES that ACCESS fits best. If a structure begins
 * with bytes and is copied in larger pieces, the field is the structure. */
enum field_outcome type_field(const struct types *types, struct string_pool *names,
                              uint32_t type, uint64_t offset_bytes,
                              const struct type_access *access, struct field *field);

/* The type that a load of a pointer reads at OFFSET_BYTES in TYPE. TYPE_NONE if nothing
 * lies there, or more than one thing. */
uint32_t type_part(const struct types *types, uint32_t type, uint64_t offset_bytes);

/* Whether TYPE has the same field again STRIDE_BYTES behind OFFSET_BYTES: in the next
 * item of an array around the offset, or of an array of TYPE. */
bool type_repeats(const struct types *types, uint32_t type, uint64_t offset_bytes,
                  uint64_t stride_bytes);

/* Whether neither of the structures A and B begins with the other. */
bool type_unlike(const struct types *types, uint32_t a, uint32_t b);

/* Whether an INNER begins at OFFSET_BYTES in OUTER. */
bool type_holds(const struct types *types, uint32_t outer, uint64_t offset_bytes,
                uint32_t inner);

#endif
