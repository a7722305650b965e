/* SPDX-License-Identifier: MIT */
/* What counters gained between two readings of a plan's groups. Pure: it is told what
 * was read, and reads nothing. */
#ifndef MEMLAG_PERF_COUNTING_H
#define MEMLAG_PERF_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "plan.h"

/* A plan's groups on one CPU, each opened there once or once for each of several tasks.
 */
struct counting;

/* PLAN must outlive it. NULL: no memory. */
struct counting *counting_new(const struct plan *plan, int64_t start_ns);
void counting_free(struct counting *counting);

/* Group GROUP of the plan was opened; *OPENING is what it is called here. -ENOMEM. */
int counting_open(struct counting *counting, size_t group, size_t *opening);

/* An opening as it stands, with the values of its group's events in VALUES (NULL where
 * the group only samples). TIME_THERE: how long it could have run, which for a task is
 * the time that it was on this CPU. (The kernel's own time enabled goes on while the task
 * is on others.) All are of the opening's whole life. One that cannot be read, as it has
 * lost its counters, is left out, and takes nothing from the others. */
void counting_add(struct counting *counting, size_t opening, uint64_t time_there,
                  uint64_t time_running, const uint64_t *values);

struct counting_gain {
        const char *name; /* the plan's */
        const char *unit;
        int64_t start_ns; /* of the time in which it was gained */
        uint64_t value;   /* in UNIT */
};

/* Time in which groups could have run and did not, summed over groups. */
struct counting_missed {
        uint64_t counters_ns;
        uint64_t samples_ns;
};

/* The gains up to NOW_NS since the times of before, of each name once, as plan.h says:
 * estimated where a counter did not run all the time, left out where it did not run at
 * all, to come with its next reading. GAINS has room for counting_names of them, and is
 * filled by ascending start; returns how many there are. */
size_t counting_gains(struct counting *counting, int64_t now_ns,
                      struct counting_gain *gains, struct counting_missed *missed);

/* COUNT, made in TIME_RUNNING, as it would have been in TIME_THERE. (perf_event_open(2),
 * on multiplexing.) */
uint64_t counting_scaled(uint64_t count, uint64_t time_there, uint64_t time_running);

size_t counting_names(const struct counting *counting);

#endif
