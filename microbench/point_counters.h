/* SPDX-License-Identifier: MIT */
/* What the PMU tells of the latency of threads: the load miss real latency and the time
 * that the fill buffers were full (H19, H20). Knows no kernels. */
#ifndef MEMLAG_POINT_COUNTERS_H
#define MEMLAG_POINT_COUNTERS_H

#include <stddef.h>
#include <sys/types.h>

#include "diag.h"

/* The PMU's events for it. */
struct point_events;

/* This machine's; -ENODEV, or the reason of the kernel's refusal, when it has none that
 * can be counted. EVENTS is freed by point_events_free. */
int point_events_find(struct point_events **events, struct diag *diag);
void point_events_free(struct point_events *events);

/* Counters of some threads. */
struct point_counters;

struct point_counts {
        /* Misses outstanding, summed over cycles, by loads that missed L1 or hit a fill
         * buffer; NAN: not counted. */
        double lmrl_cycles;
        double fb_full_share; /* of the cycles; NAN: not counted */
};

/* Begins to count the THREADS, COUNT of them, in user code. NULL with a message when that
 * is impossible. */
struct point_counters *point_counters_start(const struct point_events *events,
                                            const pid_t *threads, size_t count,
                                            struct diag *diag);

/* Ends it and frees COUNTERS. A thread whose counters had to share the PMU is left out.
 */
struct point_counts point_counters_stop(struct point_counters *counters);

#endif
