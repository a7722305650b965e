/* SPDX-License-Identifier: MIT */
/* Converts times of perf records to CLOCK_MONOTONIC. Records can use that clock directly
 * (use_clockid), but Intel's CPUs then interrupt the program for each sample. Without
 * use_clockid, records have perf's clock; a ring's control page relates it to the time
 * stamp counter. */
#ifndef MEMLAG_PERF_CLOCK_H
#define MEMLAG_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_clock {
        const struct perf_event_mmap_page *page; /* NULL: the records' is the same */
        int64_t offset_ns;                       /* CLOCK_MONOTONIC - perf's clock */
};

/* Returns true if PAGE contains the relation of the clocks. */
bool perf_clock_is_told(const struct perf_event_mmap_page *page);

/* Measures the current offset between the clocks: they drift by NTP's corrections. The
 * error of a pair of readings is less than a microsecond. */
void perf_clock_measure(struct perf_clock *clock);

int64_t perf_clock_to_monotonic(const struct perf_clock *clock, uint64_t time_ns);

int64_t perf_clock_monotonic(void);

#endif
