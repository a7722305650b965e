/* SPDX-License-Identifier: MIT */
/* A tally for each pair of line and object that occurs. */
#ifndef MEMLAG_PAIRS_H
#define MEMLAG_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "tally.h"

struct pair {
        uint32_t line;
        uint32_t object;
        struct tally tally;
};

/* All zero is an empty one. */
struct pairs {
        struct pair *pairs;
        size_t count;
        size_t capacity;
        uint32_t *slots; /* index into pairs plus 1; 0: free */
        size_t slot_count;
};

/* The tally of LINE and OBJECT, made when new; NULL without memory. It moves when
 * another is made. */
struct tally *pairs_get(struct pairs *pairs, uint32_t line, uint32_t object);

/* Orders the pairs by line and object; no pairs_get after it. */
void pairs_sort(struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif
