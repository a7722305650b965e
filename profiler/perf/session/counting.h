/* SPDX-License-Identifier: MIT */
/* Counter increments between two readings of a plan's groups. Pure: the caller does the
 * reading. */
#ifndef MEMLAG_PERF_COUNTING_H
#define MEMLAG_PERF_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "plan.h"

/* A plan's groups on one CPU, each opened once, or once for each task. */
struct counting;

/* PLAN must outlive it. NULL: no memory. */
struct counting *counting_new(const struct plan *plan, int64_t start_ns);
void counting_free(struct counting *counting);

/* Registers an opened group GROUP of the plan; *OPENING is its identifier here.
 * -ENOMEM. */
int counting_open(struct counting *counting, size_t group, size_t *opening);

/* Adds a reading of an opening, with the values of its group's events in VALUES (NULL
 * where the group only samples). TIME_THERE: how long it could have run; for a task, its
 * time on this CPU. (The kernel's time enabled continues while the task is on other
 * CPUs.) All values are totals since opening. A reading may fail when the opening has
 * lost its counters. Such an opening is left out, without effect on the others. */
void counting_add(struct counting *counting, size_t opening, uint64_t time_there,
                  uint64_t time_running, const uint64_t *values);

struct counting_gain {
        const char *name; /* the plan's */
        const char *unit;
        int64_t start_ns; /* start of the increment's interval */
        uint64_t value;   /* in UNIT */
};

/* Time in which groups could have run but did not, summed over groups. */
struct counting_missed {
        uint64_t counters_ns;
        uint64_t samples_ns;
};

/* Computes the increments up to NOW_NS since the previous call, once for each name, as
 * plan.h describes. An increment is estimated if the counter ran only part of the time.
 * If the counter did not run at all, its increment is deferred to its next reading.
 * GAINS has counting_names elements, and is filled by ascending start; returns their
 * number. */
size_t counting_gains(struct counting *counting, int64_t now_ns,
                      struct counting_gain *gains, struct counting_missed *missed);

/* COUNT, made in TIME_RUNNING, as it would have been in TIME_THERE. (perf_event_open(2),
 * on multiplexing.) */
uint64_t counting_scaled(uint64_t count, uint64_t time_there, uint64_t time_running);

size_t counting_names(const struct counting *counting);

#endif
