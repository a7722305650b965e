/* SPDX-License-Identifier: MIT */
/* Threads in the order of their clocks: a binary heap from which any thread can be taken
 * out. Its memory is the caller's. */
#ifndef SIMPMU_CLOCK_HEAP_H
#define SIMPMU_CLOCK_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct clock_heap_entry {
        uint64_t clock;
        uint32_t id;
};

struct clock_heap {
        struct clock_heap_entry *entries; /* the slowest first */
        uint32_t *places;                 /* by id: index of its entry plus 1; 0: none */
        uint32_t count;
};

#define CLOCK_NEVER (~UINT64_C(0))

/* ENTRIES and PLACES have room for ids below CAPACITY each. */
void clock_heap_init(struct clock_heap *heap, struct clock_heap_entry *entries,
                     uint32_t *places, uint32_t capacity);

/* ID is not in the heap yet. */
void clock_heap_put(struct clock_heap *heap, uint32_t id, uint64_t clock);

/* Takes ID out, if it is there. */
void clock_heap_remove(struct clock_heap *heap, uint32_t id);

/* The slowest clock, and the slowest of all but ID; CLOCK_NEVER: there is none. */
uint64_t clock_heap_slowest(const struct clock_heap *heap);
uint64_t clock_heap_slowest_but(const struct clock_heap *heap, uint32_t id);

#endif
