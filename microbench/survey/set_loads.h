/* SPDX-License-Identifier: MIT */
/* Independent loads, one per page, repeated: from one set of L1, or alternating between
 * two sets. If one set is slower, it accepts lines one after another. Everything else is
 * equal: the pages and their order are the same, and L1 holds few of the lines in either
 * case. */
#ifndef MEMLAG_SET_LOADS_H
#define MEMLAG_SET_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

struct set_loads {
        struct buffer buffer;
        uint32_t *order; /* order of the pages, unpredictable for prefetchers */
        uint64_t pages;
};

/* Allocates PAGES of 4 KiB, on huge pages if possible. The position of a line in its page
 * determines its L1 set, as on all x86-64 CPUs with virtually indexed L1. set_loads_free
 * frees everything, also after an error. */
int set_loads_make(struct set_loads *loads, uint64_t pages, struct diag *diag);
void set_loads_free(struct set_loads *loads);

/* Sweeps over all pages SWEEPS times; returns core cycles per load. */
double set_loads_cycles(const struct set_loads *loads, bool one_set, uint64_t sweeps);

#endif
