/* SPDX-License-Identifier: MIT */
/* A tally for each pair of numbers that occurs: of line and object, of such a pair
 * and a field, or of a node in the tree of callers and what it calls. */
#ifndef MEMLAG_PAIRS_H
#define MEMLAG_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "tally.h"

struct pair {
        uint32_t first;
        uint32_t second;
        struct tally tally;
};

/* All zero is an empty one. */
struct pairs {
        struct pair *pairs;
        size_t count;
        size_t capacity;
        uint32_t *slots; /* index into pairs plus 1; 0: free */
        size_t slot_count;
        uint64_t multiplier; /* of scatter.h */
};

/* The index of the pair in pairs, made when new; UINT32_MAX without memory. */
uint32_t pairs_place(struct pairs *pairs, uint32_t first, uint32_t second);

/* Its tally; NULL without memory. It moves when another is made. */
struct tally *pairs_get(struct pairs *pairs, uint32_t first, uint32_t second);

/* Orders the pairs by their numbers; no pairs_get after it. */
void pairs_sort(struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif
