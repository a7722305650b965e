/* SPDX-License-Identifier: MIT */
/* The heap as it is at one moment: the live blocks of each process image, found by
 * any address inside them. Keeps memory only; knows neither the database nor where the
 * events come from. */
#ifndef MEMLAG_HEAP_LIVE_H
#define MEMLAG_HEAP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites.h"

struct heap_block {
        uint64_t addr;
        uint64_t size_bytes; /* as asked for; a block of 0 bytes still has its address */
        int64_t start_ns;
        int64_t thread_id;     /* of the thread table; 0: unknown */
        int64_t allocation_id; /* the caller's: 0 until the block's row was written */
        uint32_t site;
        uint32_t inherited : 1; /* made before a fork: a site counts it in the parent */
        uint32_t resizer : 31;  /* the thread that gives it another size; 0: none */
};

/* Told of each block that ends; a value other than 0 is passed on to the caller of
 * the function that ended it, after the heap is up to date. */
typedef int (*heap_block_ended)(void *context, const struct heap_block *block);

struct heap_live;

/* SITES must outlive the heap. NULL: no memory. */
struct heap_live *heap_live_new(struct heap_sites *sites);
void heap_live_free(struct heap_live *live);

/* What a forked process begins with: the same blocks, inherited and without rows
 * (allocation_id 0). Takes memory only for what changes later, in either. NULL: no
 * memory. */
struct heap_live *heap_live_copy(struct heap_live *live);

/* BLOCK begins (its inherited and resizer are ignored). Live blocks that it overlaps have
 * ended unseen: they end now. -ENOMEM, or what ENDED returned. */
int heap_live_begin(struct heap_live *live, const struct heap_block *block,
                    heap_block_ended ended, void *context);

/* Ends the block that begins at ADDR and copies it to *BLOCK: 1; 0: there is none;
 * -ENOMEM. */
int heap_live_end(struct heap_live *live, uint64_t addr, struct heap_block *block);

/* RESIZER, a thread, is about to give the block that begins at ADDR, if there is one,
 * another size: it lives on. 0 or -ENOMEM. */
int heap_live_resize(struct heap_live *live, uint64_t addr, uint32_t resizer);
/* As heap_live_end, if the block is still the one that RESIZER wanted to resize. */
int heap_live_end_resized(struct heap_live *live, uint64_t addr, uint32_t resizer,
                          struct heap_block *block);

/* Ends every block in a range that was unmapped. A block that is partly outside ends
 * too, and what is left of it goes on as blocks that begin at NOW_NS with the
 * same site and no row. LENGTH_BYTES UINT64_MAX with START 0: all blocks. -ENOMEM,
 * or what ENDED returned. */
int heap_live_end_range(struct heap_live *live, uint64_t start, uint64_t length_bytes,
                        int64_t now_ns, heap_block_ended ended, void *context);

/* Whether a live block contains ADDR. */
bool heap_live_holds(const struct heap_live *live, uint64_t addr);

/* The live block that contains ADDR, or NULL, into *BLOCK. The caller may set
 * allocation_id; valid until the heap changes or is copied. 0 or -ENOMEM. */
int heap_live_find(struct heap_live *live, uint64_t addr, struct heap_block **block);

#endif
