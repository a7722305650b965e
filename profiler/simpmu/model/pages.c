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

struct page_block *pages_look_up(struct pages *pages, uint64_t number)
{
        if (2 * pages->used >= pages->slot_count)
                grow(pages);
        struct page_block **slot = &pages->slots[slot_of(pages, number)];
        if (*slot == NULL) {
                *slot = pages->allocate(sizeof(**slot));
                (*slot)->number = number;
                pages->used++;
        }
        pages->last = *slot;
        return *slot;
}

static void forget_in_block(struct page_block *block, uint64_t first, uint64_t end)
{
        uint64_t block_first = block->number << BLOCK_PAGE_SHIFT;
        uint64_t from = first > block_first ? first - block_first : 0;
        uint64_t to = end - block_first < BLOCK_PAGES ? end - block_first : BLOCK_PAGES;

        for (uint64_t i = from; i < to; i++)
                block->pages[i] = (struct page){0};
}

void pages_forget(struct pages *pages, uint64_t first, uint64_t count)
{
        uint64_t end = first + count;
        uint64_t first_block = first >> BLOCK_PAGE_SHIFT;
        uint64_t end_block = (end + BLOCK_PAGES - 1) >> BLOCK_PAGE_SHIFT;

        if (end_block - first_block > pages->slot_count) {
                for (uint64_t i = 0; i < pages->slot_count; i++) {
                        struct page_block *block = pages->slots[i];
                        if (block != NULL && block->number >= first_block &&
                            block->number < end_block)
                                forget_in_block(block, first, end);
                }
                return;
        }
        for (uint64_t number = first_block; number < end_block; number++) {
                struct page_block *block = pages->slots[slot_of(pages, number)];
                if (block != NULL)
                        forget_in_block(block, first, end);
        }
}

void pages_move(struct pages *pages, uint64_t from, uint64_t to, uint64_t count)
{
        for (uint64_t i = 0; i < count; i++) {
                struct page page = *pages_at(pages, from + i);
                *pages_at(pages, to + i) = page;
        }
        pages_forget(pages, from, count);
}
