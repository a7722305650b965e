/* SPDX-License-Identifier: MIT */
/* See pages.h. */
#include "pages.h"

#define SLOTS_AT_FIRST 256u

void pages_init(struct pages *pages, sim_allocate allocate)
{
        *pages = (struct pages){.allocate = allocate};
}

static uint64_t slot_of(const struct pages *pages, uint64_t number)
{
        const uint64_t multiplier = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
        uint64_t slot = (number * multiplier) >> 32 & (pages->slot_count - 1);

        while (pages->slots[slot] != NULL && pages->slots[slot]->number != number)
                slot = (slot + 1) & (pages->slot_count - 1);
        return slot;
}

static void grow(struct pages *pages)
{
        struct pages larger = *pages;

        larger.slot_count =
            pages->slot_count == 0 ? SLOTS_AT_FIRST : 2 * pages->slot_count;
        larger.slots = pages->allocate(larger.slot_count * sizeof(struct page_block *));
        for (uint64_t i = 0; i < pages->slot_count; i++) {
                if (pages->slots[i] != NULL)
                        larger.slots[slot_of(&larger, pages->slots[i]->number)] =
                            pages->slots[i];
        }
        *pages = larger;
}

static bool any_has(const struct page_ranges *ranges, uint64_t first, uint64_t end)
{
        for (uint64_t i = 0; i < ranges->count; i++) {
                if (end > ranges->list[i].first && first < ranges->list[i].end)
                        return true;
        }
        return false;
}

struct page_block *pages_look_up(struct pages *pages, uint64_t number)
{
        if (2 * pages->used >= pages->slot_count)
                grow(pages);
        struct page_block **slot = &pages->slots[slot_of(pages, number)];
        if (*slot == NULL) {
                *slot = pages->allocate(sizeof(**slot));
                (*slot)->number = number;
                (*slot)->huge = any_has(&pages->huge, number, number + 1);
                pages->used++;
        }
        pages->at_hand[number % BLOCKS_AT_HAND] = *slot;
        return *slot;
}

static bool any_touched(const struct page_block *block)
{
        for (uint32_t i = 0; i < BLOCK_PAGES; i++) {
                if (block->pages[i].memory != PAGE_UNTOUCHED)
                        return true;
        }
        return false;
}

/* Returns whether any of the pages had been touched. After a partial release, the rest
 * of a huge page becomes small pages, until all are released. */
static bool release_in_block(struct page_block *block, uint64_t first, uint64_t end)
{
        bool touched = false;
        uint64_t block_first = block->number << BLOCK_PAGE_SHIFT;
        uint64_t from = first > block_first ? first - block_first : 0;
        uint64_t to = end - block_first < BLOCK_PAGES ? end - block_first : BLOCK_PAGES;

        for (uint64_t i = from; i < to; i++) {
                touched |= block->pages[i].memory != PAGE_UNTOUCHED;
                block->pages[i] = (struct page){0};
        }
        block->small = to - from < BLOCK_PAGES && any_touched(block);
        return touched;
}

static bool make_huge(struct page_block *block, uint64_t first, uint64_t end)
{
        uint64_t block_first = block->number << BLOCK_PAGE_SHIFT;

        block->huge |= block_first >= first && block_first + BLOCK_PAGES <= end;
        return false;
}

static bool make_small(struct page_block *block, uint64_t first, uint64_t end)
{
        (void)first, (void)end;
        block->huge = false;
        return false;
}

/* Does it to each block that has pages from FIRST to END; returns whether it has returned
 * true for any. */
static bool for_blocks(const struct pages *pages, uint64_t first, uint64_t end,
                       bool (*does)(struct page_block *, uint64_t, uint64_t))
{
        uint64_t first_block = first >> BLOCK_PAGE_SHIFT;
        uint64_t end_block = (end + BLOCK_PAGES - 1) >> BLOCK_PAGE_SHIFT;
        bool any = false;

        if (first >= end)
                return false;
        if (end_block - first_block > pages->slot_count) {
                for (uint64_t i = 0; i < pages->slot_count; i++) {
                        struct page_block *block = pages->slots[i];
                        if (block != NULL && block->number >= first_block &&
                            block->number < end_block)
                                any |= does(block, first, end);
                }
                return any;
        }
        for (uint64_t number = first_block; number < end_block; number++) {
                struct page_block *block = pages->slots[slot_of(pages, number)];
                if (block != NULL)
                        any |= does(block, first, end);
        }
        return any;
}

static void add_range(struct pages *pages, struct page_ranges *ranges,
                      struct page_range range)
{
        if (range.first >= range.end)
                return;
        if (ranges->count == ranges->capacity) {
                struct page_range *before = ranges->list;
                ranges->capacity = 2 * ranges->capacity + 16;
                ranges->list = pages->allocate(ranges->capacity * sizeof(*before));
                for (uint64_t i = 0; i < ranges->count; i++)
                        ranges->list[i] = before[i];
        }
        ranges->list[ranges->count++] = range;
}

static void remove_range(struct pages *pages, struct page_ranges *ranges, uint64_t from,
                         uint64_t to)
{
        for (uint64_t i = 0; i < ranges->count;) {
                struct page_range *range = &ranges->list[i];
                struct page_range above = {to > range->first ? to : range->first,
                                           range->end};
                if (range->end <= from || range->first >= to) {
                        i++;
                        continue;
                }
                range->end = from > range->first ? from : range->first;
                if (range->first == range->end)
                        *range = ranges->list[--ranges->count];
                else
                        i++;
                add_range(pages, ranges, above);
        }
}

/* Blocks that have pages from FIRST to END are not huge. */
static void remove_huge(struct pages *pages, uint64_t first, uint64_t end)
{
        remove_range(pages, &pages->huge, first >> BLOCK_PAGE_SHIFT,
                     (end + BLOCK_PAGES - 1) >> BLOCK_PAGE_SHIFT);
        (void)for_blocks(pages, first, end, make_small);
}

bool pages_release(struct pages *pages, uint64_t first, uint64_t count)
{
        return for_blocks(pages, first, first + count, release_in_block);
}

bool pages_forget(struct pages *pages, uint64_t first, uint64_t count)
{
        bool touched = pages_release(pages, first, count);

        if (pages->huge.count > 0)
                remove_huge(pages, first, first + count);
        remove_range(pages, &pages->shared, first, first + count);
        return touched;
}

void pages_set_huge(struct pages *pages, uint64_t first, uint64_t count, bool huge)
{
        const struct page_range whole = {(first + BLOCK_PAGES - 1) >> BLOCK_PAGE_SHIFT,
                                         (first + count) >> BLOCK_PAGE_SHIFT};
        if (!huge) {
                remove_huge(pages, first, first + count);
        } else if (whole.first < whole.end) {
                remove_range(pages, &pages->huge, whole.first, whole.end);
                add_range(pages, &pages->huge, whole);
                (void)for_blocks(pages, first, first + count, make_huge);
        }
}

void pages_set_shared(struct pages *pages, uint64_t first, uint64_t count)
{
        add_range(pages, &pages->shared, (struct page_range){first, first + count});
}

void pages_fork(struct pages *pages)
{
        const struct page_ranges *shared = &pages->shared;

        for (uint64_t slot = 0; slot < pages->slot_count; slot++) {
                struct page_block *block = pages->slots[slot];
                if (block == NULL)
                        continue;
                const uint64_t first = block->number << BLOCK_PAGE_SHIFT;
                const bool mixed = any_has(shared, first, first + BLOCK_PAGES);
                for (uint64_t i = 0; i < BLOCK_PAGES; i++) {
                        if (block->pages[i].memory == PAGE_OF_ITS_OWN &&
                            !(mixed && any_has(shared, first + i, first + i + 1)))
                                block->pages[i].memory = PAGE_OF_FORK;
                }
        }
}

bool pages_move(struct pages *pages, uint64_t from, uint64_t to, uint64_t count)
{
        for (uint64_t i = 0; i < count; i++) {
                struct page page = *pages_at(pages, from + i);
                *pages_at(pages, to + i) = page;
        }
        return pages_forget(pages, from, count);
}
