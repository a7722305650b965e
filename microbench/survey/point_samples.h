/* SPDX-License-Identifier: MIT */
/* The sampling latency of the calling thread's loads, on PMUs that sample loads with
 * latency. Averages loads from DRAM with a TLB hit, not locked (H19, H20). Knows no
 * kernels. */
#ifndef MEMLAG_POINT_SAMPLES_H
#define MEMLAG_POINT_SAMPLES_H

#include <stdint.h>

#include "diag.h"

/* The PMU event for these samples. */
struct sample_event;

/* Finds the event of CPU's PMU; -ENODEV or the kernel's error if there is none.
 * sample_event_free frees EVENT. */
int sample_event_find(int cpu, struct sample_event **event, struct diag *diag);
void sample_event_free(struct sample_event *event);

/* A running sampling session. */
struct point_samples;

/* Starts sampling. NULL with a message on failure. */
struct point_samples *point_samples_start(const struct sample_event *event,
                                          struct diag *diag);

/* Sums over samples. */
struct sampled_latency {
        double cycles;
        uint64_t samples;
};

/* Stops sampling, frees SAMPLES, and adds the samples to SUM. */
void point_samples_stop(struct point_samples *samples, struct sampled_latency *sum);

#endif
