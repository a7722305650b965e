/* SPDX-License-Identifier: MIT */
/* The sampling latency of the calling thread's loads, where the PMU samples them with
 * their latency: the mean over those whose data came from DRAM, whose address hit the
 * TLB, and that are not locked (H19, H20). Knows no kernels. */
#ifndef MEMLAG_POINT_SAMPLES_H
#define MEMLAG_POINT_SAMPLES_H

#include <stdint.h>

#include "diag.h"

/* The PMU's event for it. */
struct sample_event;

/* That of CPU's PMU; -ENODEV, or the reason of the kernel's refusal, when it has none.
 * EVENT is freed by sample_event_free. */
int sample_event_find(int cpu, struct sample_event **event, struct diag *diag);
void sample_event_free(struct sample_event *event);

/* Loads that are being sampled. */
struct point_samples;

/* Begins. NULL with a message when that is impossible. */
struct point_samples *point_samples_start(const struct sample_event *event,
                                          struct diag *diag);

/* Sums over samples. */
struct sampled_latency {
        double cycles;
        uint64_t samples;
};

/* Ends it, frees SAMPLES, and adds what was sampled to SUM. */
void point_samples_stop(struct point_samples *samples, struct sampled_latency *sum);

#endif
