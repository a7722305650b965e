/* SPDX-License-Identifier: MIT */
/* A map from address ranges to ids. Ranges come and go. A later range covers the part of
 * an older one that it overlaps, as mmap does. */
#ifndef MEMLAG_SYMBOLIZE_INTERVAL_MAP_H
#define MEMLAG_SYMBOLIZE_INTERVAL_MAP_H

#include <stdint.h>

#define INTERVAL_NONE UINT32_MAX

/* Zero-initialised: empty. */
struct interval_map {
        void *root; /* of a tree of search.h */
};

/* Puts [START, END) there as ID. 0 or -ENOMEM. */
int interval_map_put(struct interval_map *map, uint64_t start, uint64_t end, uint32_t id);

/* Removes the parts of ID's range between START and END that are still there. */
void interval_map_drop(struct interval_map *map, uint64_t start, uint64_t end,
                       uint32_t id);

/* The id at ADDR, or INTERVAL_NONE. */
uint32_t interval_map_find(const struct interval_map *map, uint64_t addr);

void interval_map_free(struct interval_map *map);

#endif
