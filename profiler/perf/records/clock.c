/* SPDX-License-Identifier: MIT */
/* perf's clock from the time stamp counter: "cap_user_time_zero" in perf_event_open(2).
 */
#include "clock.h"

#include <linux/perf_event.h>
#include <time.h>
#include <x86intrin.h>

enum { TRIALS = 3 };

int64_t perf_clock_monotonic(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool perf_clock_is_told(const struct perf_event_mmap_page *page)
{
        return page->cap_user_time_zero;
}

/* The page changes concurrently: its lock is even when it is consistent. */
static int64_t perf_now(const volatile struct perf_event_mmap_page *page)
{
        for (;;) {
                uint32_t lock = page->lock;
                __atomic_thread_fence(__ATOMIC_ACQUIRE);
                uint64_t cycles = __rdtsc();
                uint16_t shift = page->time_shift;
                uint32_t mult = page->time_mult;
                uint64_t zero = page->time_zero;
                __atomic_thread_fence(__ATOMIC_ACQUIRE);
                if (lock % 2 || lock != page->lock)
                        continue;
                uint64_t quotient = cycles >> shift;
                uint64_t rest = cycles & ((UINT64_C(1) << shift) - 1);
                return (int64_t)(zero + quotient * mult + ((rest * mult) >> shift));
        }
}

/* The least disturbed of several readings is the best. */
void perf_clock_measure(struct perf_clock *clock)
{
        if (!clock->page)
                return;
        int64_t shortest_ns = INT64_MAX;
        for (int i = 0; i < TRIALS; i++) {
                int64_t before = perf_clock_monotonic();
                int64_t perf = perf_now(clock->page);
                int64_t after = perf_clock_monotonic();
                if (after - before >= shortest_ns)
                        continue;
                shortest_ns = after - before;
                clock->offset_ns = before + shortest_ns / 2 - perf;
        }
}

int64_t perf_clock_to_monotonic(const struct perf_clock *clock, uint64_t time_ns)
{
        return (int64_t)time_ns + clock->offset_ns;
}
