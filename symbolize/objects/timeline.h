/* SPDX-License-Identifier: MIT */
/* The contents of a process's memory over time: mappings, loaded files, stacks and
 * blocks begin and end. */
#ifndef MEMLAG_SYMBOLIZE_TIMELINE_H
#define MEMLAG_SYMBOLIZE_TIMELINE_H

#include "interval_map.h"
#include "raw.h"

/* Kinds of intervals; each kind has a separate map. A block may lie in a mapping, and
 * both are valid again when a covering interval ends. */
enum layer {
        LAYER_MAPPING,
        LAYER_IMAGE, /* the whole extent of a program or library */
        LAYER_STACK,
        LAYER_BLOCK,  /* of the heap */
        LAYER_REGION, /* that the program mapped itself */
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
        uint32_t mapping_changes; /* how often LAYER_MAPPING has become another */
        struct interval_map layers[LAYER_COUNT];
};

/* Zero-initialised: nothing there. Add everything, sort, then go forward in time. */
int timeline_add_mapping(struct timeline *timeline, const struct raw *raw, size_t index);
int timeline_add_allocation(struct timeline *timeline, const struct raw *raw,
                            size_t index);
int timeline_sort(struct timeline *timeline);

/* Advances the valid intervals to TIME_NS, which never decreases. An interval that
 * ends at that very time is still valid, unless another has begun there. 0 or -ENOMEM. */
int timeline_advance(struct timeline *timeline, int64_t time_ns);

/* Brings all mappings into force that ever were, the later over the earlier, and
 * nothing else; after that there is no going forward. 0 or -ENOMEM. */
int timeline_ever(struct timeline *timeline);

/* The index in raw of the interval in LAYER at ADDR, or INTERVAL_NONE. */
uint32_t timeline_find(const struct timeline *timeline, enum layer layer, uint64_t addr);

void timeline_free(struct timeline *timeline);

#endif
