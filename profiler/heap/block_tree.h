/* SPDX-License-Identifier: MIT */
/* Blocks by address in a B+ tree. A copy takes memory only for later changes. Does not
 * check or interpret blocks: overlaps are the user's responsibility. */
#ifndef MEMLAG_HEAP_BLOCK_TREE_H
#define MEMLAG_HEAP_BLOCK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "live.h"

enum {
        BLOCK_TREE_FANOUT = 64,
        /* A node of level n is split after 32^n insertions at the earliest. */
        BLOCK_TREE_MAX_HEIGHT = 16,
        BLOCK_TREE_RECENT = 1024
};

struct block_leaf;
struct block_inner;

struct block_tree {
        uint64_t heap; /* owner of these blocks; others inherit them */
        void *root;    /* a leaf when height is 0, else an inner node */
        unsigned height;
        /* Cache of leaves that only this tree refers to, as to all nodes above, by
         * the page of a recently found address. The next lookup is mostly near. NULL:
         * empty. */
        struct block_leaf *recent[BLOCK_TREE_RECENT];
};

/* A block's position in the tree, and the path from the root. */
struct block_place {
        struct block_inner *nodes[BLOCK_TREE_MAX_HEIGHT];
        uint32_t indexes[BLOCK_TREE_MAX_HEIGHT];
        struct block_leaf *leaf;
        uint32_t slot;
        bool is_recent; /* the leaf came from the cache, without a path */
};

/* An empty tree of the heap of that number. -ENOMEM. */
int block_tree_open(struct block_tree *tree, uint64_t heap);
void block_tree_close(struct block_tree *tree);

/* Fills COPY, for the heap number HEAP, with the blocks of TREE. */
void block_tree_copy(struct block_tree *tree, struct block_tree *copy, uint64_t heap);

/* Returns the block at PLACE. It may be written to after block_tree_own. */
struct heap_block *block_tree_at(const struct block_place *place);

/* Returns the last byte of a block; an empty block counts as one byte. */
uint64_t block_last_byte(uint64_t addr, uint64_t size_bytes);

/* The block that begins at ADDR. */
bool block_tree_seek_start(const struct block_tree *tree, uint64_t addr,
                           struct block_place *place);
/* The block that contains ADDR. */
bool block_tree_seek_containing(const struct block_tree *tree, uint64_t addr,
                                struct block_place *place);
/* The first block that shares an address with [FIRST, LAST]. */
bool block_tree_seek_overlap(const struct block_tree *tree, uint64_t first, uint64_t last,
                             struct block_place *place);

/* Makes the nodes on the path to PLACE, which was just found, private to this tree.
 * Blocks of another heap are then inherited, and without rows. -ENOMEM. */
int block_tree_own(struct block_tree *tree, struct block_place *place);

/* Inserts BLOCK, which overlaps no other block. -ENOMEM. */
int block_tree_insert(struct block_tree *tree, const struct heap_block *block);
/* Removes the block at PLACE, after block_tree_own. */
void block_tree_remove(struct block_tree *tree, struct block_place *place);

#endif
