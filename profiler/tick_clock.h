/* SPDX-License-Identifier: MIT */
/* Converts time stamp counter values to CLOCK_MONOTONIC, between moments at which both
 * clocks were read. */
#ifndef MEMLAG_TICK_CLOCK_H
#define MEMLAG_TICK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TICK_CLOCK_POINTS = 64 };

struct tick_point {
        uint64_t ticks;
        int64_t ns;
};

/* All 0 in the beginning. */
struct tick_clock {
        struct tick_point points[TICK_CLOCK_POINTS]; /* rising; the latest ones */
        size_t count;
        struct tick_point first; /* for the rate */
        uint64_t furthest;       /* ticks behind the last point that were converted */
};

/* Whether the counters of all CPUs run evenly and together: the kernel, which watches
 * them, has the time from them itself. */
bool tick_clock_is_trusted(void);

/* Records that TICKS corresponds to NS. Ignores points that are not later than all
 * recorded and converted values. */
void tick_clock_note(struct tick_clock *clock, uint64_t ticks, int64_t ns);

/* Reads both now, and notes them. */
void tick_clock_measure(struct tick_clock *clock);

/* The time of TICKS. Of two the later one never has an earlier time; before the first
 * point that is kept, and far behind the last, it is the time of that point. */
int64_t tick_clock_ns(struct tick_clock *clock, uint64_t ticks);

#endif
