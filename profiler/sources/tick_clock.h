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
        struct tick_point points[TICK_CLOCK_POINTS]; /* rising; the latest points */
        size_t count;
        struct tick_point first; /* for the rate */
        uint64_t furthest;       /* the greatest ticks that were converted after the last
                                    point */
};

/* Returns true if the time stamp counters of all CPUs are constant and synchronised: the
 * kernel checks them, and uses them as its clock source. */
bool tick_clock_is_trusted(void);

/* Records that TICKS corresponds to NS. Ignores points that are not later than all
 * recorded and converted values. */
void tick_clock_note(struct tick_clock *clock, uint64_t ticks, int64_t ns);

/* Reads both now, and notes them. */
void tick_clock_measure(struct tick_clock *clock);

/* Returns the time of TICKS, in ns. It rises with TICKS from the first noted point to a
 * second after the last. Elsewhere it is the time of that point; 0 without points. */
int64_t tick_clock_ns(struct tick_clock *clock, uint64_t ticks);

#endif
