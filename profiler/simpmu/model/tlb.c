/* SPDX-License-Identifier: MIT */
/* The miss path of tlb.h. */
#include "tlb.h"

enum tlb_outcome tlb_lookup(struct tlb *tlb, uint64_t page)
{
        (void)cache_insert(&tlb->dtlb, page, false);
        if (cache_touch(&tlb->stlb, page))
                return TLB_STLB_HIT;
        (void)cache_insert(&tlb->stlb, page, false);
        return TLB_WALK;
}
