/* SPDX-License-Identifier: MIT */
/* The contents of a process's memory over time: mappings, loaded files, stacks and blocks
 * with their begin and end. */
#ifndef MEMLAG_SYMBOLIZE_TIMELINE_H
#define MEMLAG_SYMBOLIZE_TIMELINE_H

#include "interval_map.h"
#include "raw.h"

/* Kinds of intervals; each kind has a separate map. A block may lie in a mapping. When a
 * covering interval ends, the covered ones are valid again. */
enum layer {
        LAYER_MAPPING,
        LAYER_IMAGE, /* the whole extent of a program or library */
        LAYER_STACK,
        LAYER_BLOCK,  /* of the heap */
        LAYER_REGION, /* mapped by the program itself */
        LAYER_COUNT
};

struct timeline_item {
        uint64_t start;
        uint64_t end;
        struct raw_period period;
        uint32_t index; /* of a mapping or an allocation */
        enum layer layer;
};

struct timeline {
        struct timeline_item *starts; /* by start of the period */
        struct timeline_item *ends;   /* the same by its end */
        size_t count;
        size_t capacity;
        size_t started;
        size_t ended;
        uint32_t mapping_changes; /* number of changes of LAYER_MAPPING */
        struct interval_map layers[LAYER_COUNT];
};

/* Zero-initialised: nothing there. Add everything, sort, then go forward in time. */
int timeline_add_mapping(struct timeline *timeline, const struct raw *raw, size_t index);
int timeline_add_allocation(struct timeline *timeline, const struct raw *raw,
                            size_t index);
int timeline_sort(struct timeline *timeline);

/* Makes the intervals of TIME_NS valid; the time never decreases. An interval that ends
 * at TIME_NS is still valid, unless another begins there. 0 or -ENOMEM. */
int timeline_advance(struct timeline *timeline, int64_t time_ns);

/* Makes all mappings of all times valid, later over earlier, and nothing else. The
 * timeline cannot advance after that. 0 or -ENOMEM. */
int timeline_ever(struct timeline *timeline);

/* The index in raw of the interval in LAYER at ADDR, or INTERVAL_NONE. */
uint32_t timeline_find(const struct timeline *timeline, enum layer layer, uint64_t addr);

void timeline_free(struct timeline *timeline);

#endif
