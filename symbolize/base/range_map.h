/* SPDX-License-Identifier: MIT */
/* A flat map of nested address ranges: finds the innermost range at an address. Built
 * once, searched in O(log n). Knows nothing of ELF. */
#ifndef MEMLAG_SYMBOLIZE_RANGE_MAP_H
#define MEMLAG_SYMBOLIZE_RANGE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "append.h"

struct range {
        uint64_t low;
        uint64_t high; /* first address after the range */
        uint32_t value;
        uint32_t order;
};

struct range_map {
        LIST(struct range);
};

/* Adds a range (an empty one is ignored) before range_map_build. 0 or -ENOMEM. */
int range_map_add(struct range_map *map, uint64_t low, uint64_t high, uint32_t value);

/* Makes the added ranges searchable. Where ranges overlap, the innermost is the one that
 * begins last. If several begin there, the shortest is the innermost; of equal ones, the
 * one added last. 0 or -ENOMEM. */
int range_map_build(struct range_map *map);

/* The innermost range at ADDR, or NULL. */
const struct range *range_map_find(const struct range_map *map, uint64_t addr);

void range_map_free(struct range_map *map);

#endif
