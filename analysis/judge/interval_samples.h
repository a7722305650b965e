/* SPDX-License-Identifier: MIT */
/* What samples tell of their interval that its counters do not: whether it was busy all
 * the time, how much of its traffic was remote, and for how long its loads really
 * stalled. */
#ifndef MEMLAG_INTERVAL_SAMPLES_H
#define MEMLAG_INTERVAL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "interval.h"

/* The part of an interval, or span, from START_NS to END_NS without DRAM traffic, by the
 * ascending TIMES_NS of COUNT samples from DRAM: gaps of more than ten times the median
 * one are idle, which one gap of a thousand is by chance. NAN: fewer samples than a
 * verdict needs. Times outside of the span count as its ends. */
double idle_part(const int64_t *times_ns, size_t count, int64_t start_ns, int64_t end_ns);

/* Fills idle_part, remote_part and sampled_stall_most of METRICS, one for each interval
 * of SERIES, whose CYCLES counter is known where CYCLES_KNOWN; and sets *REMOTE_CYCLES to
 * what another node's memory takes at best: the tenth percentile of the latency of its
 * samples, NAN for fewer than a verdict needs. LOADS_PER_SAMPLE may be NAN. */
int interval_samples_read(struct db *db, const struct interval_series *series,
                          double loads_per_sample, struct interval_metrics *metrics,
                          double *remote_cycles, struct diag *diag);

#endif
