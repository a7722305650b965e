/* SPDX-License-Identifier: MIT */
/* The model's record of each 4 KiB page of the program's memory: the core that uses
 * it, its node, and whether it belongs to a huge page. Other cores are searched only
 * for lines of shared pages. The table consists of blocks of 2 MiB; most programs have
 * few. Knows no caches. */
#ifndef SIMPMU_MODEL_PAGES_H
#define SIMPMU_MODEL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"

#define BLOCK_PAGE_SHIFT 9
#define BLOCK_PAGES      (1u << BLOCK_PAGE_SHIFT)
#define BLOCKS_AT_HAND   64u

/* The memory behind an anonymous page: none; the shared page of zeroes, after a load;
 * that of two processes, after a fork; private memory. */
enum page_memory { PAGE_UNTOUCHED, PAGE_OF_ZEROES, PAGE_OF_FORK, PAGE_OF_ITS_OWN };

struct page {
        uint16_t user;      /* the core that used it first, + 1; 0: none yet */
        uint8_t shared : 1; /* others have used it, too */
        uint8_t memory : 2; /* enum page_memory */
        uint8_t node;       /* where the page is, + 1; 0: nowhere yet */
};

struct page_block {
        uint64_t number; /* of its first page, over BLOCK_PAGES */
        bool huge;       /* the program requested huge pages */
        bool small; /* but small ones are there: touched earlier, or left by a partial
                       release of a huge page */
        struct page pages[BLOCK_PAGES];
};

/* Blocks or pages from FIRST to before END. */
struct page_range {
        uint64_t first;
        uint64_t end;
};

/* No two overlap. */
struct page_ranges {
        struct page_range *list;
        uint64_t count;
        uint64_t capacity;
};

struct pages {
        struct page_block **slots;
        struct page_block *at_hand[BLOCKS_AT_HAND]; /* looked up last, by their number */
        uint64_t slot_count;                        /* a power of two, or 0 */
        uint64_t used;
        struct page_ranges huge;   /* blocks that are huge */
        struct page_ranges shared; /* pages that processes share after a fork */
        sim_allocate allocate;
};

void pages_init(struct pages *pages, sim_allocate allocate);

/* The cold half of pages_block. */
struct page_block *pages_look_up(struct pages *pages, uint64_t number);

static inline struct page_block *pages_block(struct pages *pages, uint64_t page)
{
        uint64_t number = page >> BLOCK_PAGE_SHIFT;
        struct page_block *block = pages->at_hand[number % BLOCKS_AT_HAND];

        if (block == NULL || block->number != number)
                block = pages_look_up(pages, number);
        return block;
}

static inline struct page *pages_at(struct pages *pages, uint64_t page)
{
        return &pages_block(pages, page)->pages[page & (BLOCK_PAGES - 1)];
}

/* The block of PAGE is one page of 2 MiB, or will be when it is touched. */
static inline bool pages_huge(struct pages *pages, uint64_t page)
{
        if (__builtin_expect(pages->huge.count == 0, 1))
                return false;
        const struct page_block *block = pages_block(pages, page);
        return block->huge && !block->small;
}

/* The memory of COUNT pages from FIRST on is unmapped or new. Returns, as the next
 * function does, whether any page had been touched: TLBs may know such pages. */
bool pages_forget(struct pages *pages, uint64_t first, uint64_t count);

/* Discards the contents of the pages: the next access to each page is a first touch
 * again. */
bool pages_release(struct pages *pages, uint64_t first, uint64_t count);

/* Makes the pages huge, in each whole block within the range that has no small pages, or
 * small in all blocks of the range. */
void pages_set_huge(struct pages *pages, uint64_t first, uint64_t count, bool huge);

/* The pages are new, and stay shared after a fork (MAP_SHARED). */
void pages_set_shared(struct pages *pages, uint64_t first, uint64_t count);

/* After a fork: all other memory belongs to two processes, and a write makes a copy. */
void pages_fork(struct pages *pages);

/* COUNT pages that were at FROM are at TO. Returns whether any had been touched. */
bool pages_move(struct pages *pages, uint64_t from, uint64_t to, uint64_t count);

#endif
