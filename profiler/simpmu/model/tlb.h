/* SPDX-License-Identifier: MIT */
/* Two levels of data TLB and a page walk of fixed length, 4 KiB pages. Accesses
 * that the L1 filters let pass are not seen here: they count as DTLB hits and do
 * not refresh the LRU order. Walks do not compete for a walker or for caches. */
#ifndef SIMPMU_MODEL_TLB_H
#define SIMPMU_MODEL_TLB_H

#include <stdint.h>

#include "cache.h"

#define TLB_PASSING 64u

struct tlb {
        struct cache dtlb;
        struct cache stlb;
        /* Pages that are in the DTLB and recent there: one more hit changes nothing. */
        uint64_t passing[TLB_PASSING];
};

enum tlb_outcome { TLB_HIT, TLB_STLB_HIT, TLB_WALK };

void tlb_init(struct tlb *tlb, uint64_t dtlb_entries, uint32_t dtlb_ways,
              uint64_t stlb_entries, uint32_t stlb_ways, sim_allocate allocate);

/* The cold half of tlb_access. */
enum tlb_outcome tlb_lookup(struct tlb *tlb, uint64_t page);

static inline bool tlb_passes(const struct tlb *tlb, uint64_t page)
{
        return tlb->passing[page & (TLB_PASSING - 1)] == page;
}

/* Looks PAGE up and brings it into both levels. */
static inline enum tlb_outcome tlb_access(struct tlb *tlb, uint64_t page)
{
        return tlb_passes(tlb, page) ? TLB_HIT : tlb_lookup(tlb, page);
}

#endif
