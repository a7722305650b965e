/* SPDX-License-Identifier: MIT */
/* Two levels of data TLB and page walks of fixed length. Pages of 4 KiB and of 2 MiB have
 * a first level each and share the second. Accesses that the L1 filters let pass are not
 * seen here: they count as DTLB hits and do not refresh the LRU order. Walks compete for
 * the core's page walkers, and not for its caches. */
#ifndef SIMPMU_MODEL_TLB_H
#define SIMPMU_MODEL_TLB_H

#include <stdint.h>

#include "cache.h"
#include "places.h"
#include "protocol.h"

/* Pages that pass by: a line of the host's cache for each row, which follows from the
 * page's low bits as its set does. Arrays that are used side by side lie in the same rows
 * often. Each page has two columns in its row, found by unlike hashes: where two arrays
 * share the first one, they do not share the second. */
#define TLB_ROWS    64u
#define TLB_COLUMNS 8u

struct tlb {
        struct cache dtlb;
        struct cache huge; /* the DTLB of 2 MiB pages */
        struct cache stlb;
        /* Pages (of 4 KiB, or such parts of larger ones) that are in the DTLB and recent
         * there: one more hit changes nothing. */
        uint64_t passing[TLB_ROWS][TLB_COLUMNS];
        struct places walkers;
};

/* In the order of their cost. A sample reports the first two as hits, as processors
 * do. */
enum tlb_outcome { TLB_HIT, TLB_STLB_HIT, TLB_WALK, TLB_HUGE_WALK, TLB_OUTCOMES };

/* Sizes come from SIMPMU_PARAMETERS. */
void tlb_init(struct tlb *tlb, const struct simpmu_params *params, sim_allocate allocate);

/* Looks PAGE up, which is part of a HUGE one or none, and brings it into both levels. */
enum tlb_outcome tlb_lookup(struct tlb *tlb, uint64_t page, bool huge);

/* A walk that takes LATENCY can begin at START; returns how long after that it is done:
 * longer when no walker is free. */
uint64_t tlb_walk(struct tlb *tlb, uint64_t start, uint64_t latency);

/* COUNT pages from FIRST on are mapped no longer. Few are forgotten one by one, with the
 * huge pages that they may be part of; for more everything is, as Linux does it. */
void tlb_forget(struct tlb *tlb, uint64_t first, uint64_t count);

/* Another thread, with another clock, comes to the core: no walk is under way. */
void tlb_settle(struct tlb *tlb);

/* A column of PAGE in its row: computed from the bits above the row bits. */
static inline uint32_t tlb_column(uint64_t page, uint32_t multiplier)
{
        return (uint32_t)(page / TLB_ROWS) * multiplier / (UINT32_MAX / TLB_COLUMNS + 1);
}

static inline uint32_t tlb_first_column(uint64_t page)
{
        return tlb_column(page, 0x9e3779b1u); /* 2^32 / golden ratio */
}

/* Distances between arrays that are a power of two, or thrice one, never lead to the same
 * column. */
static inline uint32_t tlb_second_column(uint64_t page)
{
        return tlb_column(page, 0x24924925u); /* 2^32 / 7 */
}

static inline bool tlb_passes(const struct tlb *tlb, uint64_t page)
{
        const uint64_t *row = tlb->passing[page & (TLB_ROWS - 1)];

        return row[tlb_first_column(page)] == page ||
               row[tlb_second_column(page)] == page;
}

#endif
