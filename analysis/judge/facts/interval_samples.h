/* SPDX-License-Identifier: MIT */
/* Facts about an interval that only samples give: its idle time, the remote part of its
 * DRAM traffic, and the real stall time of its loads. */
#ifndef MEMLAG_INTERVAL_SAMPLES_H
#define MEMLAG_INTERVAL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "interval.h"

/* The part of the span START_NS to END_NS without DRAM traffic. TIMES_NS: ascending times
 * of COUNT samples that waited for DRAM. Samples less than LATENCY_NS apart (NAN: not
 * known) overlap, and have no gap: threads may run in step. A gap of more than ten times
 * the median gap is idle; chance makes one gap in a thousand as long. Times outside the
 * span count as its ends. NAN: too few samples for a verdict, or too few gaps. */
double idle_part(const int64_t *times_ns, size_t count, int64_t start_ns, int64_t end_ns,
                 double latency_ns);

/* Fills idle_part, remote_part, sets_crowd and sampled_stall_most of METRICS, one element
 * per interval of SERIES. *REMOTE_CYCLES gets the best latency of remote memory: the
 * tenth percentile of its samples, or NAN with too few samples for a verdict.
 * CYCLES_KNOWN: the run counted cycles. LOADS_PER_SAMPLE may be NAN. Hits of a fill
 * buffer wait for DRAM above CACHE_LATENCY_CYCLES. DRAM_LATENCY_NS: of idle DRAM, or
 * NAN. */
int interval_samples_read(struct db *db, const struct interval_series *series,
                          double loads_per_sample, double cache_latency_cycles,
                          double dram_latency_ns, struct interval_metrics *metrics,
                          double *remote_cycles, struct diag *diag);

#endif
