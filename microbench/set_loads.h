/* SPDX-License-Identifier: MIT */
/* Loads that do not depend on each other, one in each page, over and over: of lines in
 * one set of L1, or in two of them by turns. Where one set takes longer it takes its
 * lines one after another, since all else is as hard on both: the pages are the same and
 * in the same order, and L1 has room for few of the lines either way. */
#ifndef MEMLAG_SET_LOADS_H
#define MEMLAG_SET_LOADS_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

struct set_loads {
        struct buffer buffer;
        uint32_t *order; /* of the pages, in no order that a prefetcher follows */
        uint64_t pages;
};

/* PAGES of 4 KiB, on huge pages where there are any. A line's place in its page is its
 * set of L1, as in all x86-64 processors that look into L1 while they translate.
 * set_loads_free frees what was made, also after an error. */
int set_loads_make(struct set_loads *loads, uint64_t pages, struct diag *diag);
void set_loads_free(struct set_loads *loads);

/* Times SWEEPS sweeps over all pages: returns cycles of the core for each load. */
double set_loads_cycles(const struct set_loads *loads, bool one_set, uint64_t sweeps);

#endif
