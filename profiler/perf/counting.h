/* SPDX-License-Identifier: MIT */
/* What counters gained between two readings of a plan's groups. Pure: it is told what
 * was read, and reads nothing. */
#ifndef MEMLAG_PERF_COUNTING_H
#define MEMLAG_PERF_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "plan.h"

/* One opening of a plan's groups, on one task and CPU: the values count there from 0. */
struct counting;

/* PLAN must outlive it. NULL: no memory. */
struct counting *counting_new(const struct plan *plan, int64_t start_ns);
void counting_free(struct counting *counting);

/* Notes the values of group GROUP as they stand: VALUES has one for each event. */
void counting_read(struct counting *counting, size_t group, uint64_t time_enabled,
                   uint64_t time_running, const uint64_t *values);

struct counting_gain {
        const char *name; /* the plan's */
        const char *unit;
        int64_t start_ns; /* of the time in which it was gained */
        uint64_t value;   /* in UNIT */
};

/* The gains up to NOW_NS since the times of before, of each name once, as plan.h says:
 * estimated where a counter did not run all the time, left out where it did not run at
 * all, to come with its next reading. GAINS has room for counting_names of them; returns
 * how many there are. *MISSED_NS: enabled time in which groups did not run, summed over
 * groups. */
size_t counting_gains(struct counting *counting, int64_t now_ns,
                      struct counting_gain *gains, uint64_t *missed_ns);

size_t counting_names(const struct counting *counting);

#endif
