/* SPDX-License-Identifier: MIT */
/* PMU counts for threads: the load miss real latency, and the time with full fill buffers
 * (H19, H20). Knows no kernels. */
#ifndef MEMLAG_POINT_COUNTERS_H
#define MEMLAG_POINT_COUNTERS_H

#include <stddef.h>
#include <sys/types.h>

#include "diag.h"

/* The PMU events for these counts. */
struct point_events;

/* Finds this machine's events. Returns -ENODEV or the kernel's error if they cannot be
 * counted. point_events_free frees EVENTS. */
int point_events_find(struct point_events **events, struct diag *diag);
void point_events_free(struct point_events *events);

/* Counters of some threads. */
struct point_counters;

struct point_counts {
        /* Outstanding misses summed over cycles, divided by loads that missed L1 or hit a
         * fill buffer; NAN: not counted. */
        double lmrl_cycles;
        double fb_full_share; /* share of the cycles; NAN: not counted */
};

/* Starts counting COUNT THREADS in user code. NULL with a message on failure. */
struct point_counters *point_counters_start(const struct point_events *events,
                                            const pid_t *threads, size_t count,
                                            struct diag *diag);

/* Stops and frees COUNTERS. Leaves out threads whose counters were multiplexed. */
struct point_counts point_counters_stop(struct point_counters *counters);

#endif
