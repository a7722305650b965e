/* SPDX-License-Identifier: MIT */
/* The current heap: the live blocks of each process image, found by any address inside
 * them. In memory only; knows neither the database nor the source of events. */
#ifndef MEMLAG_HEAP_LIVE_H
#define MEMLAG_HEAP_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites.h"

struct heap_block {
        uint64_t addr;
        uint64_t size_bytes; /* requested size; a block of 0 bytes still has its
                                address */
        int64_t start_ns;
        int64_t thread_id;     /* of the thread table; 0: unknown */
        int64_t allocation_id; /* the caller's: 0 until the block's row was written */
        uint32_t site;
        uint32_t inherited : 1; /* made before a fork: a site counts it in the parent */
        uint32_t resizer : 31;  /* the thread that resizes it; 0: none */
};

/* Called for each block that ends. A nonzero result is returned to the caller of the
 * function that ended the block, after the heap is up to date. */
typedef int (*heap_block_ended)(void *context, const struct heap_block *block);

struct heap_live;

/* SITES must outlive the heap. NULL: no memory. */
struct heap_live *heap_live_new(struct heap_sites *sites);
void heap_live_free(struct heap_live *live);

/* Initial state of a forked process: the same blocks, inherited and without rows
 * (allocation_id 0). Takes memory only for later changes in either process. NULL: no
 * memory. */
struct heap_live *heap_live_copy(struct heap_live *live);

/* BLOCK begins (its inherited and resizer are ignored). Overlapped live blocks have
 * ended unnoticed: they end now. -ENOMEM, or the result of ENDED. */
int heap_live_begin(struct heap_live *live, const struct heap_block *block,
                    heap_block_ended ended, void *context);

/* Ends the block that begins at ADDR and copies it to *BLOCK: 1; 0: there is none;
 * -ENOMEM. */
int heap_live_end(struct heap_live *live, uint64_t addr, struct heap_block *block);

/* RESIZER, a thread, is about to resize the block at ADDR, if it exists: the block lives
 * on. 0 or -ENOMEM. */
int heap_live_resize(struct heap_live *live, uint64_t addr, uint32_t resizer);
/* Like heap_live_end, if RESIZER still refers to this block. */
int heap_live_end_resized(struct heap_live *live, uint64_t addr, uint32_t resizer,
                          struct heap_block *block);

/* Ends every block in an unmapped range. A block that is partly outside ends too. Its
 * rest continues as blocks that begin at NOW_NS with the same site and no row.
 * LENGTH_BYTES UINT64_MAX with START 0: all blocks. -ENOMEM, or the result of ENDED. */
int heap_live_end_range(struct heap_live *live, uint64_t start, uint64_t length_bytes,
                        int64_t now_ns, heap_block_ended ended, void *context);

/* Returns true if a live block contains ADDR. */
bool heap_live_holds(const struct heap_live *live, uint64_t addr);

/* The live block that contains ADDR, or NULL, into *BLOCK. The caller may set
 * allocation_id; valid until the heap changes or is copied. 0 or -ENOMEM. */
int heap_live_find(struct heap_live *live, uint64_t addr, struct heap_block **block);

#endif
