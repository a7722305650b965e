/* SPDX-License-Identifier: MIT */
/* The field that an index into the arrays of a type leads to. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_INDEX_H
#define MEMLAG_SYMBOLIZE_TYPE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "type_table.h"

/* Whether an index of STRIDE_BYTES counts whole items of TYPE. Loops over structures are
 * unrolled by powers of two. Other multiples count something that TYPE is a part of. */
bool type_counted_whole(const struct types *types, uint32_t type, uint64_t stride_bytes);

/* Whether an index with STRIDE_BYTES may count items of BYTES, or of an array in them. */
bool type_counts(uint64_t stride_bytes, uint64_t bytes);

enum index_outcome {
        INDEX_OPEN,    /* several fields, or none that is known */
        INDEX_FOUND,   /* to one field only */
        INDEX_SHIFTED, /* the same, but OFFSET_BYTES is up to one item before its array */
};

/* The field at OFFSET_BYTES in TYPE plus an index, any multiple of STRIDE_BYTES (at least
 * 1). The index counts whole items of TYPE, or of arrays in it with room for ACCESS_BYTES
 * (0: any). It may be a multiple of more. *FOUND is the field's place with every index 0.
 */
enum index_outcome type_indexed(const struct types *types, uint32_t type,
                                int64_t offset_bytes, uint64_t stride_bytes,
                                uint64_t access_bytes, uint64_t *found);

/* The greatest common divisor of A and B, by Euclid. With 0 it is the other number. */
static inline uint64_t common_factor(uint64_t a, uint64_t b)
{
        while (b) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

#endif
