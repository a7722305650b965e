/* SPDX-License-Identifier: MIT */
/* Blocks by address in a B+ tree, of which a copy takes memory only for what changes
 * later. Keeps blocks apart from nothing: whether they overlap, and what they mean, is
 * its user's to know. */
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
        uint64_t heap; /* whose blocks these are; another's are inherited */
        void *root;    /* a leaf when height is 0, else an inner node */
        unsigned height;
        /* Leaves that only this tree refers to, as it does to all above them, by the page
         * of an address last looked for there: mostly the next is near. NULL: none. */
        struct block_leaf *recent[BLOCK_TREE_RECENT];
};

/* A block's place in the tree, and the way there from the root. */
struct block_place {
        struct block_inner *nodes[BLOCK_TREE_MAX_HEIGHT];
        uint32_t indexes[BLOCK_TREE_MAX_HEIGHT];
        struct block_leaf *leaf;
        uint32_t slot;
        bool is_recent; /* the leaf is, and the way to it was not gone */
};

/* An empty tree of the heap of that number. -ENOMEM. */
int block_tree_open(struct block_tree *tree, uint64_t heap);
void block_tree_close(struct block_tree *tree);

/* COPY, of the heap of that number, holds what TREE does. */
void block_tree_copy(struct block_tree *tree, struct block_tree *copy, uint64_t heap);

/* The block at PLACE. It may be written to once the place is the tree's own. */
struct heap_block *block_tree_at(const struct block_place *place);

/* The last byte of a block, which has at least one. */
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

/* Makes the nodes on the way to PLACE, which was just found, this tree's alone; blocks
 * that were another heap's are then inherited, and without rows. -ENOMEM. */
int block_tree_own(struct block_tree *tree, struct block_place *place);

/* Inserts BLOCK, which overlaps none. -ENOMEM. */
int block_tree_insert(struct block_tree *tree, const struct heap_block *block);
/* Takes out the block at PLACE, which is the tree's own. */
void block_tree_remove(struct block_tree *tree, struct block_place *place);

#endif
