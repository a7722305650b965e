/* SPDX-License-Identifier: MIT */
/* Full nodes are split and empty nodes freed, but nodes are never merged: a tree takes
 * no more memory than at its peak. A tree and its copies share nodes. A change copies
 * the shared nodes on the path from the root. */
#include "block_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FANOUT = BLOCK_TREE_FANOUT };

/* Common header of leaves and inner nodes. */
struct node {
        uint32_t references; /* from nodes above, or as root */
        uint32_t count;
};

/* Blocks do not move when others are inserted or removed: moving would touch most of the
 * leaf's memory. */
struct block_leaf {
        struct node node;
        uint64_t heap; /* owner of these blocks; others inherit them */
        /* Blocks that begin between these addresses belong to this leaf. Its range may
         * be wider if neighbouring leaves were freed. */
        uint64_t first_addr;
        uint64_t last_addr;
        uint64_t free;          /* a bit for each free slot */
        uint8_t order[FANOUT];  /* of the blocks, by address */
        uint64_t addrs[FANOUT]; /* in that order, together: a search reads few lines */
        struct heap_block blocks[FANOUT];
};
_Static_assert(FANOUT == 64, "as many bits as blocks");

/* Child i holds the blocks from keys[i] to below keys[i + 1]. The first child also holds
 * blocks below keys[0]. */
struct block_inner {
        struct node node;
        uint64_t keys[FANOUT];
        void *children[FANOUT];
};

/* ---- searching ---- */

uint64_t block_last_byte(uint64_t addr, uint64_t size_bytes)
{
        uint64_t last = addr + (size_bytes ? size_bytes - 1 : 0);
        return last < addr ? UINT64_MAX : last;
}

struct heap_block *block_tree_at(const struct block_place *place)
{
        return &place->leaf->blocks[place->leaf->order[place->slot]];
}

/* Counts the sorted NUMBERS that are at most LIMIT. Branch-free, because a branch would
 * mostly be mispredicted. The numbers are mostly in memory; the prefetches load all
 * lines in parallel, not one after another during the search. */
static uint32_t count_until(const uint64_t *numbers, uint32_t count, uint64_t limit)
{
        enum { LINE_BYTES = 64 };
        for (size_t i = 0; i < FANOUT * sizeof(numbers[0]); i += LINE_BYTES)
                __builtin_prefetch((const char *)numbers + i);
        const uint64_t *from = numbers;
        for (; count > 1; count -= count / 2)
                from += from[count / 2 - 1] <= limit ? count / 2 : 0;
        return (uint32_t)(from - numbers) + (count == 1 && *from <= limit);
}

static uint32_t child_index(const struct block_inner *node, uint64_t addr)
{
        return count_until(node->keys + 1, node->node.count - 1, addr);
}

/* The number of blocks of LEAF that begin below ADDR. */
static uint32_t leaf_slot(const struct block_leaf *leaf, uint64_t addr)
{
        return addr == 0 ? 0 : count_until(leaf->addrs, leaf->node.count, addr - 1);
}

static size_t recent_index(uint64_t addr)
{
        enum { PAGE_BYTES = 4096 };
        return addr / PAGE_BYTES % BLOCK_TREE_RECENT;
}

/* Like descend, without recording the path; false: the leaf is not in the cache of
 * recent leaves. */
static bool is_in_recent_leaf(const struct block_tree *tree, uint64_t addr,
                              struct block_place *place)
{
        struct block_leaf *leaf = tree->recent[recent_index(addr)];
        place->is_recent = leaf && leaf->first_addr <= addr && addr <= leaf->last_addr;
        if (place->is_recent) {
                place->leaf = leaf;
                place->slot = leaf_slot(leaf, addr);
        }
        return place->is_recent;
}

/* Finds the position at which a block at ADDR is or would be inserted. */
static void descend(const struct block_tree *tree, uint64_t addr,
                    struct block_place *place)
{
        void *node = tree->root;
        for (unsigned level = 0; level < tree->height; level++) {
                place->nodes[level] = node;
                place->indexes[level] = child_index(node, addr);
                node = place->nodes[level]->children[place->indexes[level]];
        }
        place->leaf = node;
        place->slot = leaf_slot(node, addr);
        place->is_recent = false;
}

/* Moves PLACE from beyond its leaf to the first block of the next leaf. */
static bool to_next_leaf(const struct block_tree *tree, struct block_place *place)
{
        unsigned level = tree->height;
        while (level > 0 &&
               place->indexes[level - 1] + 1 == place->nodes[level - 1]->node.count)
                level--;
        if (level == 0)
                return false;
        place->indexes[level - 1]++;
        for (; level < tree->height; level++) {
                place->nodes[level] =
                    place->nodes[level - 1]->children[place->indexes[level - 1]];
                place->indexes[level] = 0;
        }
        level = tree->height - 1;
        place->leaf = place->nodes[level]->children[place->indexes[level]];
        place->slot = 0;
        return true;
}

/* Moves PLACE from the start of its leaf to the last block of the previous leaf. */
static bool to_last_of_previous_leaf(const struct block_tree *tree,
                                     struct block_place *place)
{
        unsigned level = tree->height;
        while (level > 0 && place->indexes[level - 1] == 0)
                level--;
        if (level == 0)
                return false;
        place->indexes[level - 1]--;
        for (; level < tree->height; level++) {
                place->nodes[level] =
                    place->nodes[level - 1]->children[place->indexes[level - 1]];
                place->indexes[level] = place->nodes[level]->node.count - 1;
        }
        level = tree->height - 1;
        place->leaf = place->nodes[level]->children[place->indexes[level]];
        place->slot = place->leaf->node.count - 1;
        return true;
}

/* The last block that begins at or below ADDR. */
static bool seek_floor(const struct block_tree *tree, uint64_t addr,
                       struct block_place *place)
{
        descend(tree, addr, place);
        if (place->slot < place->leaf->node.count &&
            place->leaf->addrs[place->slot] == addr)
                return true;
        if (place->slot > 0) {
                place->slot--;
                return true;
        }
        return to_last_of_previous_leaf(tree, place);
}

static bool reaches(const struct block_place *place, uint64_t addr)
{
        const struct heap_block *block = block_tree_at(place);
        return block_last_byte(block->addr, block->size_bytes) >= addr;
}

bool block_tree_seek_containing(const struct block_tree *tree, uint64_t addr,
                                struct block_place *place)
{
        return seek_floor(tree, addr, place) && reaches(place, addr);
}

bool block_tree_seek_start(const struct block_tree *tree, uint64_t addr,
                           struct block_place *place)
{
        if (!is_in_recent_leaf(tree, addr, place))
                descend(tree, addr, place);
        return place->slot < place->leaf->node.count &&
               place->leaf->addrs[place->slot] == addr;
}

bool block_tree_seek_overlap(const struct block_tree *tree, uint64_t first, uint64_t last,
                             struct block_place *place)
{
        /* The neighbouring blocks must be in the leaf, otherwise the path is needed. */
        if (!is_in_recent_leaf(tree, first, place) || place->slot == 0 ||
            place->slot == place->leaf->node.count)
                descend(tree, first, place);
        if (place->slot > 0) {
                place->slot--;
                if (reaches(place, first))
                        return true;
                place->slot++;
        } else {
                struct block_place before = *place;
                if (to_last_of_previous_leaf(tree, &before) && reaches(&before, first)) {
                        *place = before;
                        return true;
                }
        }
        return (place->slot < place->leaf->node.count || to_next_leaf(tree, place)) &&
               place->leaf->addrs[place->slot] <= last;
}

/* ---- changes ---- */

/* Drops one reference to NODE, which is HEIGHT levels above the leaves. */
static void release_node(struct node *node, unsigned height)
{
        if (--node->references > 0)
                return;
        if (height > 0) {
                struct block_inner *inner = (struct block_inner *)node;
                for (uint32_t i = 0; i < node->count; i++)
                        release_node(inner->children[i], height - 1);
        }
        free(node);
}

/* Makes the inner node at *SLOT private to this heap. NULL: no memory. */
static struct block_inner *own_inner(void **slot, unsigned height)
{
        struct block_inner *shared = *slot;
        if (shared->node.references == 1)
                return shared;
        struct block_inner *own = malloc(sizeof(*own));
        if (!own)
                return NULL;
        *own = *shared;
        own->node.references = 1;
        for (uint32_t i = 0; i < own->node.count; i++)
                ((struct node *)own->children[i])->references++;
        release_node(&shared->node, height);
        *slot = own;
        return own;
}

/* The same for a leaf; its blocks are then of TREE's heap: inherited, and without rows,
 * when they were another's. */
static struct block_leaf *own_leaf(const struct block_tree *tree, void **slot)
{
        struct block_leaf *leaf = *slot;
        if (leaf->node.references > 1) {
                struct block_leaf *own = malloc(sizeof(*own));
                if (!own)
                        return NULL;
                *own = *leaf;
                own->node.references = 1;
                release_node(&leaf->node, 0);
                *slot = leaf = own;
        }
        for (uint32_t i = 0; i < FANOUT && leaf->heap != tree->heap; i++) {
                leaf->blocks[i].allocation_id = 0;
                leaf->blocks[i].inherited = true;
        }
        leaf->heap = tree->heap;
        return leaf;
}

/* ADDR belongs to LEAF, which only this tree refers to, as to all nodes above. */
static void note_recent(struct block_tree *tree, uint64_t addr, struct block_leaf *leaf)
{
        if (addr < leaf->first_addr)
                leaf->first_addr = addr;
        if (addr > leaf->last_addr)
                leaf->last_addr = addr;
        tree->recent[recent_index(addr)] = leaf;
}

static void forget_recent(struct block_tree *tree, const void *leaf)
{
        for (size_t i = 0; i < BLOCK_TREE_RECENT; i++)
                if (tree->recent[i] == leaf)
                        tree->recent[i] = NULL;
}

int block_tree_own(struct block_tree *tree, struct block_place *place)
{
        if (place->is_recent)
                return 0;
        void **slot = &tree->root;
        for (unsigned level = 0; level < tree->height; level++) {
                struct block_inner *own = own_inner(slot, tree->height - level);
                if (!own)
                        return -ENOMEM;
                place->nodes[level] = own;
                slot = &own->children[place->indexes[level]];
        }
        struct block_leaf *leaf = own_leaf(tree, slot);
        if (!leaf)
                return -ENOMEM;
        place->leaf = leaf;
        note_recent(tree, leaf->addrs[place->slot], leaf);
        return 0;
}

/* Moves the upper half of the full leaf FROM into a new leaf. NULL: no memory. */
static struct block_leaf *split_leaf(struct block_leaf *from)
{
        const uint32_t half = FANOUT / 2;
        struct block_leaf *to = malloc(sizeof(*to));
        if (!to)
                return NULL;
        to->node = (struct node){.references = 1, .count = half};
        to->heap = from->heap;
        to->first_addr = from->addrs[half];
        to->last_addr = from->last_addr;
        from->last_addr = to->first_addr - 1;
        from->node.count = half;
        to->free = UINT64_MAX << half;
        for (uint32_t i = 0; i < half; i++) {
                uint8_t moved = from->order[half + i];
                to->order[i] = (uint8_t)i;
                to->addrs[i] = from->addrs[half + i];
                to->blocks[i] = from->blocks[moved];
                from->free |= UINT64_C(1) << moved;
        }
        return to;
}

/* The same for an inner node. */
static struct block_inner *split_inner(struct block_inner *from)
{
        const uint32_t half = FANOUT / 2;
        struct block_inner *to = malloc(sizeof(*to));
        if (!to)
                return NULL;
        to->node = (struct node){.references = 1, .count = half};
        memcpy(to->keys, from->keys + half, half * sizeof(to->keys[0]));
        memcpy(to->children, from->children + half, half * sizeof(to->children[0]));
        from->node.count = half;
        return to;
}

/* Moves half of the full child INDEX of PARENT, which has room, into a new node next to
 * it. */
static int split_child(struct block_inner *parent, uint32_t index, bool child_is_leaf)
{
        struct block_leaf *leaf = NULL;
        struct block_inner *inner = NULL;
        if (child_is_leaf)
                leaf = split_leaf(parent->children[index]);
        else
                inner = split_inner(parent->children[index]);
        if (!leaf && !inner)
                return -ENOMEM;
        uint32_t behind = parent->node.count - index - 1;
        memmove(parent->keys + index + 2, parent->keys + index + 1,
                behind * sizeof(parent->keys[0]));
        memmove(parent->children + index + 2, parent->children + index + 1,
                behind * sizeof(parent->children[0]));
        parent->keys[index + 1] = leaf ? leaf->addrs[0] : inner->keys[0];
        parent->children[index + 1] = leaf ? (void *)leaf : (void *)inner;
        parent->node.count++;
        return 0;
}

/* Makes child INDEX of the private node INNER, HEIGHT levels above the leaves,
 * private. */
static struct node *own_child(struct block_tree *tree, struct block_inner *inner,
                              uint32_t index, unsigned height)
{
        void **slot = &inner->children[index];
        return height == 1 ? (struct node *)own_leaf(tree, slot)
                           : (struct node *)own_inner(slot, height - 1);
}

static struct node *own_root(struct block_tree *tree)
{
        return tree->height == 0 ? (struct node *)own_leaf(tree, &tree->root)
                                 : (struct node *)own_inner(&tree->root, tree->height);
}

static int split_root(struct block_tree *tree)
{
        struct block_inner *root = malloc(sizeof(*root));
        if (!root)
                return -ENOMEM;
        root->node = (struct node){.references = 1, .count = 1};
        root->keys[0] = 0;
        root->children[0] = tree->root;
        if (split_child(root, 0, tree->height == 0)) {
                free(root);
                return -ENOMEM;
        }
        tree->root = root;
        tree->height++;
        return 0;
}

/* LEAF has room. */
static void insert_into_leaf(struct block_leaf *leaf, uint32_t slot,
                             const struct heap_block *block)
{
        uint32_t behind = leaf->node.count - slot;
        memmove(leaf->order + slot + 1, leaf->order + slot, behind);
        memmove(leaf->addrs + slot + 1, leaf->addrs + slot,
                behind * sizeof(leaf->addrs[0]));
        uint8_t place = (uint8_t)__builtin_ctzll(leaf->free);
        leaf->free &= leaf->free - 1;
        leaf->order[slot] = place;
        leaf->addrs[slot] = block->addr;
        leaf->blocks[place] = *block;
        leaf->node.count++;
}

/* Splits every full node on the path first: the node above always has room. */
static int insert_from_root(struct block_tree *tree, const struct heap_block *block)
{
        struct node *node = own_root(tree);
        if (!node || (node->count == FANOUT && split_root(tree)))
                return -ENOMEM;
        node = tree->root;
        for (unsigned height = tree->height; height > 0; height--) {
                struct block_inner *inner = (struct block_inner *)node;
                uint32_t i = child_index(inner, block->addr);
                node = own_child(tree, inner, i, height);
                if (!node)
                        return -ENOMEM;
                if (node->count < FANOUT)
                        continue;
                if (split_child(inner, i, height == 1))
                        return -ENOMEM;
                node = inner->children[child_index(inner, block->addr)];
        }
        struct block_leaf *leaf = (struct block_leaf *)node;
        insert_into_leaf(leaf, leaf_slot(leaf, block->addr), block);
        note_recent(tree, block->addr, leaf);
        return 0;
}

int block_tree_insert(struct block_tree *tree, const struct heap_block *block)
{
        struct block_place place;
        if (!is_in_recent_leaf(tree, block->addr, &place) ||
            place.leaf->node.count == FANOUT)
                return insert_from_root(tree, block);
        insert_into_leaf(place.leaf, place.slot, block);
        return 0;
}

/* Takes the emptied child at LEVEL of PLACE out of the tree, and every node above
 * that it leaves empty. */
static void remove_child(struct block_tree *tree, struct block_place *place,
                         unsigned level)
{
        struct block_inner *node = place->nodes[level];
        uint32_t index = place->indexes[level];
        free(node->children[index]);
        uint32_t behind = node->node.count - index - 1;
        memmove(node->keys + index, node->keys + index + 1,
                behind * sizeof(node->keys[0]));
        memmove(node->children + index, node->children + index + 1,
                behind * sizeof(node->children[0]));
        node->node.count--;
        if (node->node.count == 0)
                remove_child(tree, place, level - 1);
}

static void lower_root(struct block_tree *tree)
{
        while (tree->height > 0 && ((struct node *)tree->root)->count == 1) {
                struct block_inner *old = tree->root;
                tree->root = old->children[0];
                ((struct node *)tree->root)->references++;
                release_node(&old->node, tree->height--);
        }
}

static void remove_from_leaf(struct block_leaf *leaf, uint32_t slot)
{
        leaf->free |= UINT64_C(1) << leaf->order[slot];
        uint32_t behind = leaf->node.count - slot - 1;
        memmove(leaf->order + slot, leaf->order + slot + 1, behind);
        memmove(leaf->addrs + slot, leaf->addrs + slot + 1,
                behind * sizeof(leaf->addrs[0]));
        leaf->node.count--;
}

/* A root of inner nodes has at least two children: one remains after a removal. */
void block_tree_remove(struct block_tree *tree, struct block_place *place)
{
        bool empties = place->leaf->node.count == 1 && tree->height > 0;
        if (empties && place->is_recent)
                descend(tree, place->leaf->addrs[0], place);
        remove_from_leaf(place->leaf, place->slot);
        if (empties) {
                forget_recent(tree, place->leaf);
                remove_child(tree, place, tree->height - 1);
                lower_root(tree);
        }
}

/* ---- trees ---- */

int block_tree_open(struct block_tree *tree, uint64_t heap)
{
        struct block_leaf *root = calloc(1, sizeof(*root));
        if (!root)
                return -ENOMEM;
        root->node.references = 1;
        root->heap = heap;
        root->last_addr = UINT64_MAX;
        root->free = UINT64_MAX;
        *tree = (struct block_tree){.heap = heap, .root = root};
        return 0;
}

void block_tree_close(struct block_tree *tree)
{
        release_node(tree->root, tree->height);
}

/* Shared nodes must not be written to without checking the path: the caches of recent
 * leaves are cleared. */
void block_tree_copy(struct block_tree *tree, struct block_tree *copy, uint64_t heap)
{
        memset(tree->recent, 0, sizeof(tree->recent));
        *copy = *tree;
        copy->heap = heap;
        ((struct node *)copy->root)->references++;
}
