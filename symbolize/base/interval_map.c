/* SPDX-License-Identifier: MIT */
/* A treap of disjoint ranges by start address: O(log n) for each operation,
 * however many ranges are alive. Links are index + 1, so that 0 is none. */
#include "interval_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "array.h"

struct interval_node {
        uint64_t start;
        uint64_t end;
        uint32_t id;
        uint32_t priority;
        uint32_t left;
        uint32_t right;
};

static struct interval_node *node_at(const struct interval_map *map, uint32_t link)
{
        return &map->nodes[link - 1];
}

static uint32_t next_priority(struct interval_map *map)
{
        uint32_t x = map->random_state ? map->random_state : 2463534242u;

        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        map->random_state = x;
        return x;
}

static uint32_t node_new(struct interval_map *map, uint64_t start, uint64_t end,
                         uint32_t id)
{
        uint32_t link = map->free_list;

        if (link) {
                map->free_list = node_at(map, link)->left;
        } else {
                if (map->used >= UINT32_MAX - 1 ||
                    array_reserve(&map->nodes, &map->capacity, map->used,
                                  sizeof(*map->nodes)) < 0)
                        return 0;
                link = (uint32_t)++map->used;
        }
        *node_at(map, link) = (struct interval_node){
            .start = start, .end = end, .id = id, .priority = next_priority(map)};
        return link;
}

static void node_release(struct interval_map *map, uint32_t link)
{
        node_at(map, link)->left = map->free_list;
        map->free_list = link;
}

/* Parts the tree at LINK into starts below KEY and starts from KEY on. */
static void split(struct interval_map *map, uint32_t link, uint64_t key, uint32_t *below,
                  uint32_t *above)
{
        while (link) {
                struct interval_node *node = node_at(map, link);

                if (node->start < key) {
                        *below = link;
                        below = &node->right;
                        link = node->right;
                } else {
                        *above = link;
                        above = &node->left;
                        link = node->left;
                }
        }
        *below = 0;
        *above = 0;
}

/* Joins two trees, all of LOW's starts being below all of HIGH's. */
static uint32_t join(struct interval_map *map, uint32_t low, uint32_t high)
{
        uint32_t root = 0;
        uint32_t *link = &root;

        while (low && high) {
                struct interval_node *a = node_at(map, low), *b = node_at(map, high);

                if (a->priority > b->priority) {
                        *link = low;
                        link = &a->right;
                        low = a->right;
                } else {
                        *link = high;
                        link = &b->left;
                        high = b->left;
                }
        }
        *link = low ? low : high;
        return root;
}

static uint32_t last_of(const struct interval_map *map, uint32_t link)
{
        while (link && node_at(map, link)->right)
                link = node_at(map, link)->right;
        return link;
}

/* Cuts the range that reaches across KEY, so that one begins there. */
static int cut_at(struct interval_map *map, uint64_t key)
{
        uint32_t below, above, last, rest;

        split(map, map->root, key, &below, &above);
        last = last_of(map, below);
        if (last && node_at(map, last)->end > key) {
                rest =
                    node_new(map, key, node_at(map, last)->end, node_at(map, last)->id);
                if (rest) {
                        node_at(map, last)->end = key;
                        above = join(map, rest, above);
                }
                map->root = join(map, below, above);
                return rest ? 0 : -ENOMEM;
        }
        map->root = join(map, below, above);
        return 0;
}

/* Releases the nodes of the tree at LINK that are to go (all, or those of ID) and
 * returns the tree of the others. The nodes are taken off one by one at the left,
 * so that no recursion is needed. */
static uint32_t filter(struct interval_map *map, uint32_t link, bool all, uint32_t id)
{
        uint32_t kept = 0;

        while (link) {
                struct interval_node *node = node_at(map, link);
                uint32_t left = node->left;

                if (left) { /* rotate right until the smallest is on top */
                        node->left = node_at(map, left)->right;
                        node_at(map, left)->right = link;
                        link = left;
                        continue;
                }
                uint32_t next = node->right;

                if (all || node->id == id) {
                        node_release(map, link);
                } else {
                        node->right = 0;
                        kept = join(map, kept, link);
                }
                link = next;
        }
        return kept;
}

static int clear(struct interval_map *map, uint64_t start, uint64_t end, bool all,
                 uint32_t id)
{
        uint32_t below, middle, above, rest;

        if (all && (cut_at(map, start) < 0 || cut_at(map, end) < 0))
                return -ENOMEM;
        split(map, map->root, start, &below, &rest);
        split(map, rest, end, &middle, &above);
        middle = filter(map, middle, all, id);
        map->root = join(map, join(map, below, middle), above);
        return 0;
}

int interval_map_put(struct interval_map *map, uint64_t start, uint64_t end, uint32_t id)
{
        uint32_t below, above, link;

        if (start >= end)
                return 0;
        if (clear(map, start, end, true, 0) < 0)
                return -ENOMEM;
        link = node_new(map, start, end, id);
        if (!link)
                return -ENOMEM;
        split(map, map->root, start, &below, &above);
        map->root = join(map, join(map, below, link), above);
        return 0;
}

int interval_map_drop(struct interval_map *map, uint64_t start, uint64_t end, uint32_t id)
{
        return start < end ? clear(map, start, end, false, id) : 0;
}

uint32_t interval_map_find(const struct interval_map *map, uint64_t addr)
{
        uint32_t link = map->root, best = 0;

        while (link) {
                const struct interval_node *node = node_at(map, link);

                if (node->start <= addr) {
                        best = link;
                        link = node->right;
                } else {
                        link = node->left;
                }
        }
        return best && addr < node_at(map, best)->end ? node_at(map, best)->id
                                                      : INTERVAL_NONE;
}

void interval_map_free(struct interval_map *map)
{
        free(map->nodes);
        *map = (struct interval_map){0};
}
