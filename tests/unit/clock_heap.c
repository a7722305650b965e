/* SPDX-License-Identifier: MIT */
/* The order of threads by their clocks, compared with a linear search. */
#include "model/clock_heap.h"
#include "unit_test.h"

enum { IDS = 200 };

struct naive {
        bool in[IDS];
        uint64_t clock[IDS];
};

static uint64_t slowest_but(const struct naive *naive, uint32_t id)
{
        uint64_t slowest = CLOCK_NEVER;
        for (uint32_t i = 0; i < IDS; i++)
                if (naive->in[i] && i != id && naive->clock[i] < slowest)
                        slowest = naive->clock[i];
        return slowest;
}

TEST(any_thread_comes_and_goes)
{
        struct clock_heap heap;
        struct clock_heap_entry entries[IDS];
        uint32_t places[IDS];
        struct naive naive = {0};
        clock_heap_init(&heap, entries, places, IDS);
        srand48(3);
        for (int step = 0; step < 20000; step++) {
                uint32_t id = (uint32_t)(drand48() * IDS);
                if (naive.in[id]) {
                        clock_heap_remove(&heap, id);
                        naive.in[id] = false;
                } else {
                        naive.clock[id] = (uint64_t)(drand48() * 1000); /* some equal */
                        clock_heap_put(&heap, id, naive.clock[id]);
                        naive.in[id] = true;
                }
                uint32_t asked = (uint32_t)(drand48() * IDS);
                assert_int_equal(clock_heap_slowest(&heap), slowest_but(&naive, IDS));
                assert_int_equal(clock_heap_slowest_but(&heap, asked),
                                 slowest_but(&naive, asked));
                if (heap.count > 0) {
                        uint32_t first = heap.entries[0].id;
                        assert_int_equal(clock_heap_slowest_but(&heap, first),
                                         slowest_but(&naive, first));
                }
        }
}

TEST(an_empty_heap_has_no_slowest)
{
        struct clock_heap heap;
        struct clock_heap_entry entries[2];
        uint32_t places[2];
        clock_heap_init(&heap, entries, places, 2);
        assert_int_equal(clock_heap_slowest(&heap), CLOCK_NEVER);
        clock_heap_remove(&heap, 1); /* not there */
        clock_heap_put(&heap, 1, 5);
        assert_int_equal(clock_heap_slowest_but(&heap, 1), CLOCK_NEVER);
        assert_int_equal(clock_heap_slowest_but(&heap, 0), 5);
}
