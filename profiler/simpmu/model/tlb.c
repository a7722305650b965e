/* SPDX-License-Identifier: MIT */
/* The cold half of tlb.h. */
#include "tlb.h"

#define NO_PAGE UINT64_MAX

void tlb_init(struct tlb *tlb, uint64_t dtlb_entries, uint32_t dtlb_ways,
              uint64_t stlb_entries, uint32_t stlb_ways, sim_allocate allocate)
{
        cache_init(&tlb->dtlb, dtlb_entries, dtlb_ways, false, allocate);
        cache_init(&tlb->stlb, stlb_entries, stlb_ways, false, allocate);
        for (uint32_t i = 0; i < TLB_PASSING; i++)
                tlb->passing[i] = NO_PAGE;
}

/* Way BIT of PLACE was used; when that makes the others no longer recent, none of the
 * set's pages pass any more. */
static void use(struct tlb *tlb, const struct cache_place *place, uint32_t bit)
{
        uint32_t step = tlb->dtlb.hashed ? 1 : tlb->dtlb.set_count;

        cache_use(&tlb->dtlb, place->set, bit);
        if (place->set->recent != bit)
                return;
        for (uint32_t i = place->index & (TLB_PASSING - 1); i < TLB_PASSING; i += step)
                tlb->passing[i] = NO_PAGE;
}

static enum tlb_outcome beyond_dtlb(struct tlb *tlb, uint64_t page)
{
        if (cache_touch(&tlb->stlb, page))
                return TLB_STLB_HIT;
        (void)cache_insert(&tlb->stlb, page, false);
        return TLB_WALK;
}

enum tlb_outcome tlb_lookup(struct tlb *tlb, uint64_t page)
{
        struct cache_place place = cache_place_of(&tlb->dtlb, page);
        uint32_t bit = cache_find(&tlb->dtlb, &place);
        enum tlb_outcome outcome = TLB_HIT;

        if (bit == 0) {
                bit = cache_victim_bit(&tlb->dtlb, place.set);
                uint64_t victim = cache_replace(&tlb->dtlb, &place, bit).line;
                if (tlb->passing[victim & (TLB_PASSING - 1)] == victim)
                        tlb->passing[victim & (TLB_PASSING - 1)] = NO_PAGE;
                outcome = beyond_dtlb(tlb, page);
        }
        use(tlb, &place, bit);
        tlb->passing[page & (TLB_PASSING - 1)] = page;
        return outcome;
}
