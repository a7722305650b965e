/* SPDX-License-Identifier: MIT */
/* The live blocks of a process in a B+ tree by address.
 *
 * Nodes are split when full and given back when empty, never merged: a heap takes no
 * more memory than its fullest moment needed. A heap and its copies share nodes until one
 * of them changes something below: then it gets its own copy of the way there. */
#include "live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

enum {
        FANOUT = 64,
        /* A node of level n is split after 32^n insertions at the earliest. */
        MAX_HEIGHT = 16
};

/* What leaves and inner nodes begin with. */
struct node {
        uint32_t references; /* from nodes above, or as root */
        uint32_t count;
};

struct leaf {
        struct node node;
        uint64_t heap; /* whose blocks these are; for all others they are inherited */
        uint64_t addrs[FANOUT]; /* of the blocks, together: a search reads few lines */
        struct heap_block blocks[FANOUT]; /* by address */
};

/* Child i holds the blocks from keys[i] to below keys[i + 1]; the first child also
 * those below keys[0]. */
struct inner {
        struct node node;
        uint64_t keys[FANOUT];
        void *children[FANOUT];
};

struct heap_live {
        struct heap_sites *sites;
        uint64_t number;
        void *root;      /* a leaf when height is 0, else an inner node */
        unsigned height; /* levels of inner nodes */
};

/* A block's place in the tree, and the way there from the root. */
struct place {
        struct inner *nodes[MAX_HEIGHT];
        uint32_t indexes[MAX_HEIGHT];
        struct leaf *leaf;
        uint32_t slot;
};

static uint64_t last_byte(uint64_t addr, uint64_t size_bytes)
{
        uint64_t last = addr + (size_bytes ? size_bytes - 1 : 0);
        return last < addr ? UINT64_MAX : last;
}

static uint32_t child_index(const struct inner *node, uint64_t addr)
{
        uint32_t low = 0, high = node->node.count;
        while (high - low > 1) {
                uint32_t middle = (low + high) / 2;
                if (node->keys[middle] <= addr)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

/* The number of blocks of LEAF that begin below ADDR. */
static uint32_t leaf_slot(const struct leaf *leaf, uint64_t addr)
{
        uint32_t low = 0, high = leaf->node.count;
        while (low < high) {
                uint32_t middle = (low + high) / 2;
                if (leaf->addrs[middle] < addr)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* A heap's leaves are mostly in memory: all lines come at once, not one after another as
 * the search finds out that it needs them. */
static void fetch_addrs(const struct leaf *leaf)
{
        enum { LINE_BYTES = 64 };
        for (size_t i = 0; i < sizeof(leaf->addrs); i += LINE_BYTES)
                __builtin_prefetch((const char *)leaf->addrs + i);
}

/* The place where a block at ADDR is or would be inserted. */
static void descend(const struct heap_live *live, uint64_t addr, struct place *place)
{
        void *node = live->root;
        for (unsigned level = 0; level < live->height; level++) {
                place->nodes[level] = node;
                place->indexes[level] = child_index(node, addr);
                node = place->nodes[level]->children[place->indexes[level]];
        }
        place->leaf = node;
        fetch_addrs(place->leaf);
        place->slot = leaf_slot(node, addr);
}

/* Moves PLACE from beyond its leaf to the first block of the next one. */
static bool to_next_leaf(const struct heap_live *live, struct place *place)
{
        unsigned level = live->height;
        while (level > 0 &&
               place->indexes[level - 1] + 1 == place->nodes[level - 1]->node.count)
                level--;
        if (level == 0)
                return false;
        place->indexes[level - 1]++;
        for (; level < live->height; level++) {
                place->nodes[level] =
                    place->nodes[level - 1]->children[place->indexes[level - 1]];
                place->indexes[level] = 0;
        }
        level = live->height - 1;
        place->leaf = place->nodes[level]->children[place->indexes[level]];
        place->slot = 0;
        return true;
}

/* Moves PLACE from the start of its leaf to the last block of the one before. */
static bool to_last_of_previous_leaf(const struct heap_live *live, struct place *place)
{
        unsigned level = live->height;
        while (level > 0 && place->indexes[level - 1] == 0)
                level--;
        if (level == 0)
                return false;
        place->indexes[level - 1]--;
        for (; level < live->height; level++) {
                place->nodes[level] =
                    place->nodes[level - 1]->children[place->indexes[level - 1]];
                place->indexes[level] = place->nodes[level]->node.count - 1;
        }
        level = live->height - 1;
        place->leaf = place->nodes[level]->children[place->indexes[level]];
        place->slot = place->leaf->node.count - 1;
        return true;
}

/* The last block that begins at or below ADDR. */
static bool seek_floor(const struct heap_live *live, uint64_t addr, struct place *place)
{
        descend(live, addr, place);
        if (place->slot < place->leaf->node.count &&
            place->leaf->addrs[place->slot] == addr)
                return true;
        if (place->slot > 0) {
                place->slot--;
                return true;
        }
        return to_last_of_previous_leaf(live, place);
}

static bool reaches(const struct place *place, uint64_t addr)
{
        const struct heap_block *block = &place->leaf->blocks[place->slot];
        return last_byte(block->addr, block->size_bytes) >= addr;
}

/* The first block that shares an address with [FIRST, LAST]. */
static bool seek_overlap(const struct heap_live *live, uint64_t first, uint64_t last,
                         struct place *place)
{
        descend(live, first, place);
        if (place->slot > 0) {
                place->slot--;
                if (reaches(place, first))
                        return true;
                place->slot++;
        } else {
                struct place before = *place;
                if (to_last_of_previous_leaf(live, &before) && reaches(&before, first)) {
                        *place = before;
                        return true;
                }
        }
        return (place->slot < place->leaf->node.count || to_next_leaf(live, place)) &&
               place->leaf->addrs[place->slot] <= last;
}

/* ---- changes ---- */

/* Ends one reference to NODE, which is HEIGHT levels above the leaves. */
static void release_node(struct node *node, unsigned height)
{
        if (--node->references > 0)
                return;
        if (height > 0) {
                struct inner *inner = (struct inner *)node;
                for (uint32_t i = 0; i < node->count; i++)
                        release_node(inner->children[i], height - 1);
        }
        free(node);
}

/* Makes the inner node at *SLOT one that only this heap refers to. NULL: no memory. */
static struct inner *own_inner(void **slot, unsigned height)
{
        struct inner *shared = *slot;
        if (shared->node.references == 1)
                return shared;
        struct inner *own = malloc(sizeof(*own));
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

/* The same for a leaf; its blocks are then LIVE's: inherited, and without rows, when they
 * were another's. */
static struct leaf *own_leaf(const struct heap_live *live, void **slot)
{
        struct leaf *leaf = *slot;
        if (leaf->node.references > 1) {
                struct leaf *own = malloc(sizeof(*own));
                if (!own)
                        return NULL;
                *own = *leaf;
                own->node.references = 1;
                release_node(&leaf->node, 0);
                *slot = leaf = own;
        }
        for (uint32_t i = 0; i < leaf->node.count && leaf->heap != live->number; i++) {
                leaf->blocks[i].allocation_id = 0;
                leaf->blocks[i].inherited = true;
        }
        leaf->heap = live->number;
        return leaf;
}

/* Makes the nodes on the way to PLACE this heap's own. -ENOMEM. */
static int own_place(struct heap_live *live, struct place *place)
{
        void **slot = &live->root;
        for (unsigned level = 0; level < live->height; level++) {
                struct inner *own = own_inner(slot, live->height - level);
                if (!own)
                        return -ENOMEM;
                place->nodes[level] = own;
                slot = &own->children[place->indexes[level]];
        }
        struct leaf *leaf = own_leaf(live, slot);
        if (!leaf)
                return -ENOMEM;
        place->leaf = leaf;
        return 0;
}

/* Moves the upper half of the full leaf or inner node CHILD, child INDEX of PARENT,
 * which has room, into a new node next to it. */
static int split_child(struct inner *parent, uint32_t index, bool child_is_leaf)
{
        const uint32_t half = FANOUT / 2;
        uint64_t key;
        void *right;
        if (child_is_leaf) {
                struct leaf *from = parent->children[index];
                struct leaf *to = right = malloc(sizeof(*to));
                if (!to)
                        return -ENOMEM;
                to->node.references = 1;
                to->heap = from->heap;
                memcpy(to->blocks, from->blocks + half, half * sizeof(to->blocks[0]));
                memcpy(to->addrs, from->addrs + half, half * sizeof(to->addrs[0]));
                from->node.count = to->node.count = half;
                key = to->addrs[0];
        } else {
                struct inner *from = parent->children[index];
                struct inner *to = right = malloc(sizeof(*to));
                if (!to)
                        return -ENOMEM;
                to->node.references = 1;
                memcpy(to->keys, from->keys + half, half * sizeof(to->keys[0]));
                memcpy(to->children, from->children + half,
                       half * sizeof(to->children[0]));
                from->node.count = to->node.count = half;
                key = to->keys[0];
        }
        uint32_t behind = parent->node.count - index - 1;
        memmove(parent->keys + index + 2, parent->keys + index + 1,
                behind * sizeof(parent->keys[0]));
        memmove(parent->children + index + 2, parent->children + index + 1,
                behind * sizeof(parent->children[0]));
        parent->keys[index + 1] = key;
        parent->children[index + 1] = right;
        parent->node.count++;
        return 0;
}

/* Child INDEX of the own node INNER, which is HEIGHT levels above the leaves, made own.
 */
static struct node *own_child(struct heap_live *live, struct inner *inner, uint32_t index,
                              unsigned height)
{
        void **slot = &inner->children[index];
        return height == 1 ? (struct node *)own_leaf(live, slot)
                           : (struct node *)own_inner(slot, height - 1);
}

static struct node *own_root(struct heap_live *live)
{
        return live->height == 0 ? (struct node *)own_leaf(live, &live->root)
                                 : (struct node *)own_inner(&live->root, live->height);
}

static int split_root(struct heap_live *live)
{
        struct inner *root = malloc(sizeof(*root));
        if (!root)
                return -ENOMEM;
        root->node = (struct node){.references = 1, .count = 1};
        root->keys[0] = 0;
        root->children[0] = live->root;
        if (split_child(root, 0, live->height == 0)) {
                free(root);
                return -ENOMEM;
        }
        live->root = root;
        live->height++;
        return 0;
}

/* Inserts BLOCK; every full node on the way is split first, so that the node above
 * always has room. */
static int insert(struct heap_live *live, const struct heap_block *block)
{
        struct node *node = own_root(live);
        if (!node || (node->count == FANOUT && split_root(live)))
                return -ENOMEM;
        node = live->root;
        for (unsigned height = live->height; height > 0; height--) {
                struct inner *inner = (struct inner *)node;
                uint32_t i = child_index(inner, block->addr);
                node = own_child(live, inner, i, height);
                if (!node ||
                    (node->count == FANOUT && split_child(inner, i, height == 1)))
                        return -ENOMEM;
                node = inner->children[child_index(inner, block->addr)];
        }
        struct leaf *leaf = (struct leaf *)node;
        uint32_t slot = leaf_slot(leaf, block->addr);
        uint32_t behind = leaf->node.count - slot;
        memmove(leaf->blocks + slot + 1, leaf->blocks + slot,
                behind * sizeof(leaf->blocks[0]));
        memmove(leaf->addrs + slot + 1, leaf->addrs + slot,
                behind * sizeof(leaf->addrs[0]));
        leaf->blocks[slot] = *block;
        leaf->addrs[slot] = block->addr;
        leaf->node.count++;
        return 0;
}

/* Takes the emptied child at LEVEL of PLACE out of the tree, and every node above
 * that it leaves empty. */
static void remove_child(struct heap_live *live, struct place *place, unsigned level)
{
        struct inner *node = place->nodes[level];
        uint32_t index = place->indexes[level];
        free(node->children[index]);
        uint32_t behind = node->node.count - index - 1;
        memmove(node->keys + index, node->keys + index + 1,
                behind * sizeof(node->keys[0]));
        memmove(node->children + index, node->children + index + 1,
                behind * sizeof(node->children[0]));
        node->node.count--;
        if (node->node.count == 0)
                remove_child(live, place, level - 1);
}

static void lower_root(struct heap_live *live)
{
        while (live->height > 0 && ((struct node *)live->root)->count == 1) {
                struct inner *old = live->root;
                live->root = old->children[0];
                ((struct node *)live->root)->references++;
                release_node(&old->node, live->height--);
        }
}

/* PLACE is the heap's own. A root of inner nodes has at least two children, so a child
 * that goes leaves one. */
static void remove_block(struct heap_live *live, struct place *place)
{
        struct leaf *leaf = place->leaf;
        const struct heap_block *block = &leaf->blocks[place->slot];
        if (!block->inherited)
                heap_sites_lose(live->sites, block->site, block->size_bytes);
        uint32_t behind = leaf->node.count - place->slot - 1;
        memmove(leaf->blocks + place->slot, leaf->blocks + place->slot + 1,
                behind * sizeof(leaf->blocks[0]));
        memmove(leaf->addrs + place->slot, leaf->addrs + place->slot + 1,
                behind * sizeof(leaf->addrs[0]));
        leaf->node.count--;
        if (leaf->node.count == 0 && live->height > 0) {
                remove_child(live, place, live->height - 1);
                lower_root(live);
        }
}

/* ---- the heap ---- */

struct heap_live *heap_live_new(struct heap_sites *sites)
{
        struct heap_live *live = calloc(1, sizeof(*live));
        if (!live)
                return NULL;
        live->sites = sites;
        live->number = heap_sites_number_heap(sites);
        struct leaf *root = calloc(1, sizeof(*root));
        if (!root) {
                free(live);
                return NULL;
        }
        root->node.references = 1;
        root->heap = live->number;
        live->root = root;
        return live;
}

void heap_live_free(struct heap_live *live)
{
        if (!live)
                return;
        release_node(live->root, live->height);
        free(live);
}

struct heap_live *heap_live_copy(const struct heap_live *live)
{
        struct heap_live *copy = malloc(sizeof(*copy));
        if (!copy)
                return NULL;
        *copy = *live;
        copy->number = heap_sites_number_heap(copy->sites);
        ((struct node *)copy->root)->references++;
        return copy;
}

static int add_block(struct heap_live *live, const struct heap_block *block)
{
        int code = insert(live, block);
        if (!code && !block->inherited)
                heap_sites_gain(live->sites, block->site, block->size_bytes);
        return code;
}

int heap_live_begin(struct heap_live *live, const struct heap_block *block,
                    heap_block_ended ended, void *context)
{
        int first_error = 0;
        uint64_t last = last_byte(block->addr, block->size_bytes);
        struct place place;
        while (seek_overlap(live, block->addr, last, &place)) {
                if (own_place(live, &place))
                        return -ENOMEM;
                struct heap_block unseen = place.leaf->blocks[place.slot];
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

/* The block that begins at ADDR. */
static bool seek_start(const struct heap_live *live, uint64_t addr, struct place *place)
{
        descend(live, addr, place);
        return place->slot < place->leaf->node.count &&
               place->leaf->addrs[place->slot] == addr;
}

static int end_block(struct heap_live *live, struct place *place,
                     struct heap_block *block)
{
        if (own_place(live, place))
                return -ENOMEM;
        *block = place->leaf->blocks[place->slot];
        remove_block(live, place);
        return 1;
}

int heap_live_end(struct heap_live *live, uint64_t addr, struct heap_block *block)
{
        struct place place;
        return seek_start(live, addr, &place) ? end_block(live, &place, block) : 0;
}

int heap_live_resize(struct heap_live *live, uint64_t addr, uint32_t resizer)
{
        struct place place;
        if (!seek_start(live, addr, &place))
                return 0;
        if (own_place(live, &place))
                return -ENOMEM;
        place.leaf->blocks[place.slot].resizer = resizer & INT32_MAX;
        return 0;
}

int heap_live_end_resized(struct heap_live *live, uint64_t addr, uint32_t resizer,
                          struct heap_block *block)
{
        struct place place;
        bool found = seek_start(live, addr, &place) &&
                     place.leaf->blocks[place.slot].resizer == (resizer & INT32_MAX);
        return found ? end_block(live, &place, block) : 0;
}

/* What is left of BLOCK before FIRST and behind LAST goes on as blocks of their own. */
static int keep_rest(struct heap_live *live, const struct heap_block *block,
                     uint64_t first, uint64_t last, int64_t now_ns)
{
        uint64_t block_last = last_byte(block->addr, block->size_bytes);
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
        uint64_t last = last_byte(start, length_bytes);
        struct place place;
        while (length_bytes && seek_overlap(live, start, last, &place)) {
                if (own_place(live, &place))
                        return -ENOMEM;
                struct heap_block block = place.leaf->blocks[place.slot];
                remove_block(live, &place);
                int code = keep_rest(live, &block, start, last, now_ns);
                if (code)
                        return code;
                code = ended(context, &block);
                first_error = first_error ? first_error : code;
        }
        return first_error;
}

/* The block that contains ADDR. */
static bool seek_block(const struct heap_live *live, uint64_t addr, struct place *place)
{
        return seek_floor(live, addr, place) && reaches(place, addr);
}

bool heap_live_holds(const struct heap_live *live, uint64_t addr)
{
        struct place place;
        return seek_block(live, addr, &place);
}

int heap_live_find(struct heap_live *live, uint64_t addr, struct heap_block **block)
{
        struct place place;
        *block = NULL;
        if (!seek_block(live, addr, &place))
                return 0;
        if (own_place(live, &place))
                return -ENOMEM;
        *block = &place.leaf->blocks[place.slot];
        return 0;
}
