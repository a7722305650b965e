/* SPDX-License-Identifier: MIT */
/* The times of perf records in CLOCK_MONOTONIC. Records can have that clock themselves
 * (use_clockid), but Intel's CPUs then stop the program for each sample; without it they
 * have perf's own clock, whose relation to the processor's time stamp counter the
 * kernel tells in a ring's control page. */
#ifndef MEMLAG_PERF_CLOCK_H
#define MEMLAG_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_clock {
        const struct perf_event_mmap_page *page; /* NULL: the records' is the same */
        int64_t offset_ns;                       /* CLOCK_MONOTONIC - perf's clock */
};

/* Whether the kernel tells the relation in PAGE. */
bool perf_clock_is_told(const struct perf_event_mmap_page *page);

/* Measures how far the clocks are apart now: they drift by what NTP corrects. A pair of
 * readings is right to less than a microsecond. */
void perf_clock_measure(struct perf_clock *clock);

int64_t perf_clock_to_monotonic(const struct perf_clock *clock, uint64_t time_ns);

int64_t perf_clock_monotonic(void);

#endif
