/* SPDX-License-Identifier: MIT */
/* The flat form of nested ranges: a sweep over their starts with a stack of open ranges.
 * Hostile input may overlap in any way; the sweep stays O(n log n) and the result at most
 * twice as long. */
#include "range_map.h"

#include <stdlib.h>

#include "append.h"

int range_map_add(struct range_map *map, uint64_t low, uint64_t high, uint32_t value)
{
        if (low >= high)
                return 0;
        const struct range range = {low, high, value, (uint32_t)map->count};

        return map->count < UINT32_MAX ? PUSH(map, range) : -ENOMEM;
}

static int compare_outer_first(const void *left, const void *right)
{
        const struct range *a = left, *b = right;

        COMPARE(a->low, b->low);
        COMPARE(b->high, a->high);
        COMPARE(a->order, b->order);
        return 0;
}

static int emit(struct range_map *flat, uint64_t low, const struct range *source,
                uint64_t high)
{
        struct range *last = flat->count ? &flat->items[flat->count - 1] : NULL;

        if (last && last->high == low && last->value == source->value) {
                last->high = high;
                return 0;
        }
        return range_map_add(flat, low, high, source->value);
}

/* Emits the open ranges from *POSITION up to LIMIT, and closes the ranges that end
 * there. */
static int sweep_to(struct range_map *flat, const struct range *open, size_t *depth,
                    uint64_t *position, uint64_t limit)
{
        while (*depth > 0) {
                const struct range *top = &open[*depth - 1];
                uint64_t high = top->high < limit ? top->high : limit;

                if (high > *position) {
                        if (emit(flat, *position, top, high) < 0)
                                return -ENOMEM;
                        *position = high;
                }
                if (top->high > limit)
                        return 0;
                --*depth;
        }
        return 0;
}

int range_map_build(struct range_map *map)
{
        struct range_map flat = {0};
        struct range *open = malloc((map->count + 1) * sizeof(*open));
        size_t depth = 0;
        uint64_t position = 0;
        int error = open ? 0 : -ENOMEM;

        SORT(map->items, map->count, compare_outer_first);
        for (size_t i = 0; i < map->count && !error; i++) {
                const struct range *next = &map->items[i];

                error = sweep_to(&flat, open, &depth, &position, next->low);
                position = next->low;
                open[depth++] = *next;
        }
        if (!error)
                error = sweep_to(&flat, open, &depth, &position, UINT64_MAX);
        free(open);
        if (error) {
                range_map_free(&flat);
                return error;
        }
        range_map_free(map);
        *map = flat;
        return 0;
}

const struct range *range_map_find(const struct range_map *map, uint64_t addr)
{
        size_t until = NUMBER_UNTIL(map->items, map->count, addr);

        return until > 0 && addr < map->items[until - 1].high ? &map->items[until - 1]
                                                              : NULL;
}

void range_map_free(struct range_map *map)
{
        free(map->items);
        *map = (struct range_map){0};
}
