/* SPDX-License-Identifier: MIT */
/* A number for each pair of numbers that occurs, and a value where one is wanted: of line
 * and object, of such a pair and a field, or of a node in the tree of callers and what it
 * calls. Knows nothing of what the values are. */
#ifndef MEMLAG_PAIRS_H
#define MEMLAG_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
        uint32_t first;
        uint32_t second;
};

/* All zero but for value_bytes is an empty one. */
struct pairs {
        size_t
            value_bytes; /* of a pair's value, all zero when it is made; 0: it has none */
        struct pair *pairs;
        void *values; /* in the order of pairs */
        size_t count;
        size_t capacity;
        uint32_t *slots; /* index into pairs plus 1; 0: free */
        size_t slot_count;
        uint64_t multiplier; /* of scatter.h */
};

/* The index of the pair in pairs, made when new; UINT32_MAX without memory. */
uint32_t pairs_place(struct pairs *pairs, uint32_t first, uint32_t second);

/* The value of the pair at INDEX. It moves when another pair is made. */
void *pairs_value(const struct pairs *pairs, size_t index);

/* The value of the pair, made when new; NULL without memory. */
void *pairs_get(struct pairs *pairs, uint32_t first, uint32_t second);

/* Orders the pairs by their numbers, and the values with them; no pairs_get after it. 0,
 * or -ENOMEM and nothing has changed. */
int pairs_sort(struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif
