/* SPDX-License-Identifier: MIT */
/* The C library's tree of disjoint ranges. Overlapping ranges compare as equal. Therefore
 * a search for a range finds any range that overlaps it. */
#include "interval_map.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

struct interval {
        uint64_t start;
        uint64_t end;
        uint32_t id;
};

static int compare(const void *left, const void *right)
{
        const struct interval *a = left, *b = right;

        return a->end <= b->start ? -1 : a->start >= b->end;
}

/* The topmost range of the tree that overlaps [START, END); NULL: none. */
static struct interval *any_in(const struct interval_map *map, uint64_t start,
                               uint64_t end)
{
        const struct interval wanted = {.start = start, .end = end};
        struct interval *const *found = tfind(&wanted, &map->root, compare);

        return found ? *found : NULL;
}

static int add_interval(struct interval_map *map, uint64_t start, uint64_t end,
                        uint32_t id)
{
        struct interval *interval = malloc(sizeof(*interval));

        if (!interval)
                return -ENOMEM;
        *interval = (struct interval){start, end, id};
        if (tsearch(interval, &map->root, compare))
                return 0;
        free(interval);
        return -ENOMEM;
}

static void take_out(struct interval_map *map, struct interval *interval)
{
        tdelete(interval, &map->root, compare);
        free(interval);
}

int interval_map_put(struct interval_map *map, uint64_t start, uint64_t end, uint32_t id)
{
        struct interval *old;
        int error = 0;

        if (start >= end)
                return 0;
        while (!error && (old = any_in(map, start, end))) {
                const struct interval whole = *old;

                if (whole.start < start)
                        old->end = start;
                else
                        take_out(map, old);
                if (whole.end > end)
                        error = add_interval(map, end, whole.end, whole.id);
        }
        return error ? error : add_interval(map, start, end, id);
}

void interval_map_drop(struct interval_map *map, uint64_t start, uint64_t end,
                       uint32_t id)
{
        struct interval *found;

        while (start < end && (found = any_in(map, start, end))) {
                const struct interval range = *found;

                if (range.id == id)
                        take_out(map, found);
                interval_map_drop(map, start, range.start, id);
                start = range.end;
        }
}

uint32_t interval_map_find(const struct interval_map *map, uint64_t addr)
{
        const struct interval *found = any_in(map, addr, addr + 1);

        return found ? found->id : INTERVAL_NONE;
}

void interval_map_free(struct interval_map *map)
{
        tdestroy(map->root, free);
        *map = (struct interval_map){0};
}
