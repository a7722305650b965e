/* SPDX-License-Identifier: MIT */
/* See tlb.h. */
#include "tlb.h"

#include "pages.h"

#define NO_PAGE UINT64_MAX

/* tlb_single_page_flush_ceiling of Linux on x86. */
#define SINGLE_PAGES 33u

/* In the STLB a huge page is the number that its 4 KiB pages have in common, with a bit
 * that no page's number has. */
#define HUGE_PAGE (1ull << 36)

/* No page of rows FIRST, FIRST + STEP and so on passes any more. */
static void stop_rows(struct tlb *tlb, uint32_t first, uint32_t step)
{
        for (uint32_t row = first; row < TLB_ROWS; row += step) {
                for (uint32_t column = 0; column < TLB_COLUMNS; column++)
                        tlb->passing[row][column] = NO_PAGE;
        }
}

void tlb_init(struct tlb *tlb, const struct simpmu_params *params, sim_allocate allocate)
{
        cache_init(&tlb->dtlb, (uint64_t)params->dtlb_entries,
                   (uint32_t)params->dtlb_ways, false, allocate);
        cache_init(&tlb->huge, (uint64_t)params->dtlb_huge_entries,
                   (uint32_t)params->dtlb_huge_ways, false, allocate);
        cache_init(&tlb->stlb, (uint64_t)params->stlb_entries,
                   (uint32_t)params->stlb_ways, false, allocate);
        stop_rows(tlb, 0, 1);
        places_init(
            &tlb->walkers, (uint32_t)params->walkers,
            (uint32_t)(params->load_buffer_entries + params->store_buffer_entries));
}

void tlb_settle(struct tlb *tlb)
{
        places_clear(&tlb->walkers);
}

uint64_t tlb_walk(struct tlb *tlb, uint64_t start, uint64_t latency)
{
        uint64_t end = places_find(&tlb->walkers, start, latency) + latency;

        places_hold(&tlb->walkers, end - latency, end);
        return end - start;
}

static void let_pass(struct tlb *tlb, uint64_t page)
{
        uint64_t *row = tlb->passing[page & (TLB_ROWS - 1)];
        uint64_t *first = &row[tlb_first_column(page)];

        if (*first == NO_PAGE || *first == page)
                *first = page;
        else
                row[tlb_second_column(page)] = page;
}

static void stop_page(struct tlb *tlb, uint64_t page)
{
        uint64_t *row = tlb->passing[page & (TLB_ROWS - 1)];
        uint64_t *first = &row[tlb_first_column(page)];
        uint64_t *second = &row[tlb_second_column(page)];

        *first = *first == page ? NO_PAGE : *first;
        *second = *second == page ? NO_PAGE : *second;
}

static void forget_huge(struct tlb *tlb, uint64_t huge)
{
        (void)cache_remove(&tlb->stlb, huge | HUGE_PAGE);
        if (cache_remove(&tlb->huge, huge) != CACHE_ABSENT)
                stop_rows(tlb, 0, 1);
}

void tlb_forget(struct tlb *tlb, uint64_t first, uint64_t count)
{
        const uint64_t end = first + count;

        if (count > SINGLE_PAGES) {
                cache_empty(&tlb->dtlb);
                cache_empty(&tlb->huge);
                cache_empty(&tlb->stlb);
                stop_rows(tlb, 0, 1);
                return;
        }
        for (uint64_t huge = first >> BLOCK_PAGE_SHIFT; huge << BLOCK_PAGE_SHIFT < end;
             huge++)
                forget_huge(tlb, huge);
        for (uint64_t page = first; page < end; page++) {
                (void)cache_remove(&tlb->dtlb, page);
                (void)cache_remove(&tlb->stlb, page);
                stop_page(tlb, page);
        }
}

/* Nor does any of the DTLB's set number INDEX. */
static void stop_set(struct tlb *tlb, uint32_t index)
{
        if (tlb->dtlb.hashed) /* any page may be of the set */
                stop_rows(tlb, 0, 1);
        else
                stop_rows(tlb, index & (TLB_ROWS - 1), tlb->dtlb.set_count);
}

/* Marks the page in way BIT of SET as used; returns whether this clears the marks of
 * others. */
static bool use_forgets(const struct cache *cache, struct cache_set *set, uint32_t bit)
{
        uint32_t before = set->recent;

        cache_use(cache, set, bit);
        return (before & ~set->recent) != 0;
}

static bool in_stlb(struct tlb *tlb, uint64_t page)
{
        if (cache_touch(&tlb->stlb, page))
                return true;
        (void)cache_insert(&tlb->stlb, page, false);
        return false;
}

static enum tlb_outcome look_up_small(struct tlb *tlb, uint64_t page)
{
        struct cache_place place = cache_place_of(&tlb->dtlb, page);
        uint32_t bit = cache_find(&tlb->dtlb, &place);
        enum tlb_outcome outcome = TLB_HIT;

        if (bit == 0) {
                bit = cache_victim_bit(&tlb->dtlb, place.set);
                const struct cache_victim victim = cache_replace(&place, bit);
                stop_page(tlb, cache_victim_line(&tlb->dtlb, &victim));
                outcome = in_stlb(tlb, page) ? TLB_STLB_HIT : TLB_WALK;
        }
        if (use_forgets(&tlb->dtlb, place.set, bit))
                stop_set(tlb, place.index);
        return outcome;
}

static enum tlb_outcome look_up_huge(struct tlb *tlb, uint64_t page)
{
        uint64_t huge = page >> BLOCK_PAGE_SHIFT;
        struct cache_place place = cache_place_of(&tlb->huge, huge);
        uint32_t bit = cache_find(&tlb->huge, &place);
        enum tlb_outcome outcome = TLB_HIT;

        if (bit == 0) {
                bit = cache_victim_bit(&tlb->huge, place.set);
                if (cache_replace(&place, bit).evicted)
                        stop_rows(tlb, 0, 1);
                outcome = in_stlb(tlb, huge | HUGE_PAGE) ? TLB_STLB_HIT : TLB_HUGE_WALK;
        }
        /* The filter then passes no part of a huge page. Small pages must be looked up
         * again, which changes nothing. */
        if (use_forgets(&tlb->huge, place.set, bit))
                stop_rows(tlb, 0, 1);
        return outcome;
}

enum tlb_outcome tlb_lookup(struct tlb *tlb, uint64_t page, bool huge)
{
        enum tlb_outcome outcome =
            huge ? look_up_huge(tlb, page) : look_up_small(tlb, page);

        let_pass(tlb, page);
        return outcome;
}
