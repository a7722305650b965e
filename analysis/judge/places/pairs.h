/* SPDX-License-Identifier: MIT */
/* Numbers each pair of numbers that occurs, and stores an optional value for it. Pairs
 * are for example (line, object), (pair, field), or (caller node, callee). Knows nothing
 * about the values. */
#ifndef MEMLAG_PAIRS_H
#define MEMLAG_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
        uint32_t first;
        uint32_t second;
};

/* Empty if all members but value_bytes are zero. */
struct pairs {
        size_t
            value_bytes; /* size of a value, zero when created; 0: no values */
        struct pair *pairs;
        void *values; /* in the order of pairs */
        size_t count;
        size_t capacity;
        uint32_t *slots; /* index into pairs plus 1; 0: free */
        size_t slot_count;
        uint64_t multiplier; /* see scatter.h */
};

/* The pair's index in pairs, created if new; UINT32_MAX without memory. */
uint32_t pairs_place(struct pairs *pairs, uint32_t first, uint32_t second);

/* The value of the pair at INDEX. Creating another pair moves it. */
void *pairs_value(const struct pairs *pairs, size_t index);

/* The pair's value, created if new; NULL without memory. */
void *pairs_get(struct pairs *pairs, uint32_t first, uint32_t second);

/* Sorts the pairs by their numbers, with their values; do not call pairs_get afterwards.
 * Returns 0, or -ENOMEM without a change. */
int pairs_sort(struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif
