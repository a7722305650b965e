/* SPDX-License-Identifier: MIT */
/* Threads in the order of their clocks. */
#include "clock_heap.h"

void clock_heap_init(struct clock_heap *heap, struct clock_heap_entry *entries,
                     uint32_t *places, uint32_t capacity)
{
        *heap = (struct clock_heap){.entries = entries, .places = places};
        for (uint32_t i = 0; i < capacity; i++)
                places[i] = 0;
}

static void place(struct clock_heap *heap, uint32_t at, struct clock_heap_entry entry)
{
        heap->entries[at] = entry;
        heap->places[entry.id] = at + 1;
}

/* Puts ENTRY at AT or above. */
static void sift_up(struct clock_heap *heap, uint32_t at, struct clock_heap_entry entry)
{
        while (at > 0 && heap->entries[(at - 1) / 2].clock > entry.clock) {
                place(heap, at, heap->entries[(at - 1) / 2]);
                at = (at - 1) / 2;
        }
        place(heap, at, entry);
}

/* The slower of the children of AT, or count if there is none. */
static uint32_t slower_child(const struct clock_heap *heap, uint32_t at)
{
        uint32_t child = 2 * at + 1;

        if (child >= heap->count)
                return heap->count;
        if (child + 1 < heap->count &&
            heap->entries[child + 1].clock < heap->entries[child].clock)
                child++;
        return child;
}

/* Puts ENTRY at AT or below. */
static void sift_down(struct clock_heap *heap, uint32_t at, struct clock_heap_entry entry)
{
        for (uint32_t child = slower_child(heap, at);
             child < heap->count && heap->entries[child].clock < entry.clock;
             child = slower_child(heap, at)) {
                place(heap, at, heap->entries[child]);
                at = child;
        }
        place(heap, at, entry);
}

void clock_heap_put(struct clock_heap *heap, uint32_t id, uint64_t clock)
{
        uint32_t at = heap->count++;

        sift_up(heap, at, (struct clock_heap_entry){clock, id});
}

void clock_heap_remove(struct clock_heap *heap, uint32_t id)
{
        if (heap->places[id] == 0)
                return;
        uint32_t at = heap->places[id] - 1;
        struct clock_heap_entry last = heap->entries[--heap->count];

        heap->places[id] = 0;
        if (at == heap->count)
                return;
        if (at > 0 && heap->entries[(at - 1) / 2].clock > last.clock)
                sift_up(heap, at, last);
        else
                sift_down(heap, at, last);
}

uint64_t clock_heap_slowest(const struct clock_heap *heap)
{
        return heap->count == 0 ? CLOCK_NEVER : heap->entries[0].clock;
}

uint64_t clock_heap_slowest_but(const struct clock_heap *heap, uint32_t id)
{
        if (heap->count == 0 || heap->entries[0].id != id)
                return clock_heap_slowest(heap);
        uint32_t second = slower_child(heap, 0);

        return second < heap->count ? heap->entries[second].clock : CLOCK_NEVER;
}
