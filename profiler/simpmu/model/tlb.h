/* SPDX-License-Identifier: MIT */
/* Two levels of data TLB and a page walk of fixed length, 4 KiB pages. Accesses
 * that the L1 filters let pass are not seen here: they count as DTLB hits and do
 * not refresh the LRU order. Walks do not compete for a walker or for caches. */
#ifndef SIMPMU_MODEL_TLB_H
#define SIMPMU_MODEL_TLB_H

#include <stdint.h>

#include "cache.h"

struct tlb {
        struct cache dtlb;
        struct cache stlb;
        uint64_t last_page; /* a repeated page needs no look-up */
};

enum tlb_outcome { TLB_HIT, TLB_STLB_HIT, TLB_WALK };

/* Looks PAGE up on the slow path and brings it into both levels. */
enum tlb_outcome tlb_lookup(struct tlb *tlb, uint64_t page);

static inline enum tlb_outcome tlb_access(struct tlb *tlb, uint64_t page)
{
        if (page == tlb->last_page)
                return TLB_HIT;
        tlb->last_page = page;
        if (cache_touch(&tlb->dtlb, page))
                return TLB_HIT;
        return tlb_lookup(tlb, page);
}

#endif
