/* SPDX-License-Identifier: MIT */
/* A list of begins, a list of ends, and a map of addresses for each layer. */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

static int add_item(struct timeline *timeline, enum layer layer, uint64_t start,
                    uint64_t end, struct raw_period period, size_t index)
{
        return APPEND(timeline->starts, timeline->count, timeline->capacity,
                      (struct timeline_item){.start = start,
                                             .end = end,
                                             .period = period,
                                             .index = (uint32_t)index,
                                             .layer = layer});
}

/* A file is loaded where its code is mapped. Its image contains all its segments. */
static int add_image(struct timeline *timeline, const struct raw *raw,
                     const struct raw_mapping *mapping, size_t index)
{
        uint64_t low = UINT64_MAX, high = 0;

        if (!mapping->executable || !mapping->in_image || mapping->kernel)
                return 0;
        const struct elf_file *file = &raw->modules[mapping->module].file;

        for (size_t i = 0; i < file->segment_count; i++) {
                const struct elf_segment *segment = &file->segments[i];

                if (segment->vaddr < low)
                        low = segment->vaddr;
                if (segment->vaddr + segment->memory_bytes > high)
                        high = segment->vaddr + segment->memory_bytes;
        }
        return add_item(timeline, LAYER_IMAGE, low + mapping->bias, high + mapping->bias,
                        mapping->period, index);
}

int timeline_add_mapping(struct timeline *timeline, const struct raw *raw, size_t index)
{
        const struct raw_mapping *mapping = &raw->mappings[index];
        enum layer layer = mapping->kind == RAW_STACK ? LAYER_STACK : LAYER_MAPPING;

        if (add_item(timeline, layer, mapping->start, mapping->end, mapping->period,
                     index) < 0)
                return -ENOMEM;
        return add_image(timeline, raw, mapping, index);
}

int timeline_add_allocation(struct timeline *timeline, const struct raw *raw,
                            size_t index)
{
        const struct raw_allocation *allocation = &raw->allocations[index];
        uint64_t bytes = allocation->size_bytes ? allocation->size_bytes : 1;
        uint64_t end = allocation->addr + bytes;

        return add_item(timeline, allocation->region ? LAYER_REGION : LAYER_BLOCK,
                        allocation->addr, end < allocation->addr ? UINT64_MAX : end,
                        allocation->period, index);
}

static int compare_starts(const void *left, const void *right)
{
        const struct timeline_item *a = left, *b = right;

        if (a->period.start_ns != b->period.start_ns)
                return a->period.start_ns < b->period.start_ns ? -1 : 1;
        return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_ends(const void *left, const void *right)
{
        const struct timeline_item *a = left, *b = right;

        if (a->period.end_ns != b->period.end_ns)
                return a->period.end_ns < b->period.end_ns ? -1 : 1;
        return a->index < b->index ? -1 : a->index > b->index;
}

int timeline_sort(struct timeline *timeline)
{
        timeline->ends = malloc((timeline->count + 1) * sizeof(*timeline->ends));
        if (!timeline->ends)
                return -ENOMEM;
        SORT(timeline->starts, timeline->count, compare_starts);
        for (size_t i = 0; i < timeline->count; i++)
                timeline->ends[i] = timeline->starts[i];
        SORT(timeline->ends, timeline->count, compare_ends);
        return 0;
}

int timeline_advance(struct timeline *timeline, int64_t time_ns)
{
        for (;;) {
                const struct timeline_item *start = &timeline->starts[timeline->started];
                const struct timeline_item *end = &timeline->ends[timeline->ended];
                bool starts = timeline->started < timeline->count &&
                              start->period.start_ns <= time_ns;
                bool ends =
                    timeline->ended < timeline->count && end->period.end_ns < time_ns;
                int error = 0;

                if (starts && (!ends || start->period.start_ns <= end->period.end_ns)) {
                        error = interval_map_put(&timeline->layers[start->layer],
                                                 start->start, start->end, start->index);
                        timeline->started++;
                        timeline->mapping_changes += start->layer == LAYER_MAPPING;
                } else if (ends) {
                        interval_map_drop(&timeline->layers[end->layer], end->start,
                                          end->end, end->index);
                        timeline->ended++;
                        timeline->mapping_changes += end->layer == LAYER_MAPPING;
                } else {
                        return 0;
                }
                if (error)
                        return error;
        }
}

uint32_t timeline_find(const struct timeline *timeline, enum layer layer, uint64_t addr)
{
        return interval_map_find(&timeline->layers[layer], addr);
}

void timeline_free(struct timeline *timeline)
{
        free(timeline->starts);
        free(timeline->ends);
        for (size_t i = 0; i < LAYER_COUNT; i++)
                interval_map_free(&timeline->layers[i]);
        *timeline = (struct timeline){0};
}

int timeline_ever(struct timeline *timeline)
{
        int error = 0;

        for (size_t i = 0; i < LAYER_COUNT; i++)
                interval_map_free(&timeline->layers[i]);
        for (size_t i = 0; i < timeline->count && !error; i++) {
                const struct timeline_item *item = &timeline->starts[i];

                if (item->layer == LAYER_MAPPING)
                        error = interval_map_put(&timeline->layers[LAYER_MAPPING],
                                                 item->start, item->end, item->index);
        }
        return error;
}
