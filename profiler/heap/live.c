/* SPDX-License-Identifier: MIT */
/* The live blocks of a process: beginnings, ends and overlaps. */
#include "live.h"

#include <errno.h>
#include <stdlib.h>

#include "block_tree.h"

struct heap_live {
        struct heap_sites *sites;
        struct block_tree tree;
};

struct heap_live *heap_live_new(struct heap_sites *sites)
{
        struct heap_live *live = malloc(sizeof(*live));
        if (!live)
                return NULL;
        live->sites = sites;
        if (block_tree_open(&live->tree, heap_sites_number_heap(sites))) {
                free(live);
                return NULL;
        }
        return live;
}

void heap_live_free(struct heap_live *live)
{
        if (!live)
                return;
        block_tree_close(&live->tree);
        free(live);
}

struct heap_live *heap_live_copy(struct heap_live *live)
{
        struct heap_live *copy = malloc(sizeof(*copy));
        if (!copy)
                return NULL;
        copy->sites = live->sites;
        block_tree_copy(&live->tree, &copy->tree, heap_sites_number_heap(live->sites));
        return copy;
}

/* PLACE is the heap's own. */
static void remove_block(struct heap_live *live, struct block_place *place)
{
        const struct heap_block *block = block_tree_at(place);
        if (!block->inherited)
                heap_sites_lose(live->sites, block->site, block->size_bytes);
        block_tree_remove(&live->tree, place);
}

static int add_block(struct heap_live *live, const struct heap_block *block)
{
        int code = block_tree_insert(&live->tree, block);
        if (!code && !block->inherited)
                heap_sites_gain(live->sites, block->site, block->size_bytes);
        return code;
}

int heap_live_begin(struct heap_live *live, const struct heap_block *block,
                    heap_block_ended ended, void *context)
{
        int first_error = 0;
        uint64_t last = block_last_byte(block->addr, block->size_bytes);
        struct block_place place;
        while (block_tree_seek_overlap(&live->tree, block->addr, last, &place)) {
                if (block_tree_own(&live->tree, &place))
                        return -ENOMEM;
                struct heap_block unseen = *block_tree_at(&place);
                remove_block(live, &place);
                int code = ended(context, &unseen);
                first_error = first_error ? first_error : code;
        }
        struct heap_block begun = *block;
        begun.inherited = false;
        begun.resizer = 0;
        int code = add_block(live, &begun);
        if (code)
                return code;
        heap_sites_allocated(live->sites, begun.site, begun.size_bytes);
        return first_error;
}

static int end_block(struct heap_live *live, struct block_place *place,
                     struct heap_block *block)
{
        if (block_tree_own(&live->tree, place))
                return -ENOMEM;
        *block = *block_tree_at(place);
        remove_block(live, place);
        return 1;
}

int heap_live_end(struct heap_live *live, uint64_t addr, struct heap_block *block)
{
        struct block_place place;
        return block_tree_seek_start(&live->tree, addr, &place)
                   ? end_block(live, &place, block)
                   : 0;
}

int heap_live_resize(struct heap_live *live, uint64_t addr, uint32_t resizer)
{
        struct block_place place;
        if (!block_tree_seek_start(&live->tree, addr, &place))
                return 0;
        if (block_tree_own(&live->tree, &place))
                return -ENOMEM;
        block_tree_at(&place)->resizer = resizer & INT32_MAX;
        return 0;
}

int heap_live_end_resized(struct heap_live *live, uint64_t addr, uint32_t resizer,
                          struct heap_block *block)
{
        struct block_place place;
        bool found = block_tree_seek_start(&live->tree, addr, &place) &&
                     block_tree_at(&place)->resizer == (resizer & INT32_MAX);
        return found ? end_block(live, &place, block) : 0;
}

/* The parts of BLOCK before FIRST and after LAST continue as separate blocks. */
static int keep_rest(struct heap_live *live, const struct heap_block *block,
                     uint64_t first, uint64_t last, int64_t now_ns)
{
        uint64_t block_last = block_last_byte(block->addr, block->size_bytes);
        struct heap_block rest = *block;
        rest.start_ns = now_ns;
        rest.allocation_id = 0;
        int code = 0;
        if (block->addr < first) {
                rest.size_bytes = first - block->addr;
                code = add_block(live, &rest);
        }
        if (!code && block_last > last) {
                rest.addr = last + 1;
                rest.size_bytes = block_last - last;
                code = add_block(live, &rest);
        }
        return code;
}

int heap_live_end_range(struct heap_live *live, uint64_t start, uint64_t length_bytes,
                        int64_t now_ns, heap_block_ended ended, void *context)
{
        int first_error = 0;
        uint64_t last = block_last_byte(start, length_bytes);
        struct block_place place;
        while (length_bytes &&
               block_tree_seek_overlap(&live->tree, start, last, &place)) {
                if (block_tree_own(&live->tree, &place))
                        return -ENOMEM;
                struct heap_block block = *block_tree_at(&place);
                remove_block(live, &place);
                int code = keep_rest(live, &block, start, last, now_ns);
                if (code)
                        return code;
                code = ended(context, &block);
                first_error = first_error ? first_error : code;
        }
        return first_error;
}

bool heap_live_holds(const struct heap_live *live, uint64_t addr)
{
        struct block_place place;
        return block_tree_seek_containing(&live->tree, addr, &place);
}

int heap_live_find(struct heap_live *live, uint64_t addr, struct heap_block **block)
{
        struct block_place place;
        *block = NULL;
        if (!block_tree_seek_containing(&live->tree, addr, &place))
                return 0;
        if (block_tree_own(&live->tree, &place))
                return -ENOMEM;
        *block = block_tree_at(&place);
        return 0;
}
