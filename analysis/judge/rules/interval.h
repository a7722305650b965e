/* SPDX-License-Identifier: MIT */
/* Sums the threads' counter values machine-wide into intervals of equal length, and
 * derives metrics of an interval. Pure arithmetic: no database. */
#ifndef MEMLAG_INTERVAL_H
#define MEMLAG_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"

enum { LINE_BYTES = 64 }; /* unit of DRAM transfers */

/* Counter increments of one thread over [start_ns, end_ns). */
struct thread_reading {
        int64_t start_ns;
        int64_t end_ns;
        double gained[CONCEPT_COUNT];
};

struct interval {
        int64_t id; /* start_ns / the series' interval_ns */
        int64_t start_ns;
        int64_t end_ns;
        double gained[CONCEPT_COUNT]; /* summed over the threads */
        /* Cycles of threads that work on memory: L1D misses outstanding, or a full store
         * buffer (limits in interval.c). */
        double memory_cycles;
};

struct interval_series {
        int64_t interval_ns;
        int64_t first_ns; /* of all counter values */
        int64_t last_ns;
        struct interval *intervals; /* by ascending id, with gaps */
        size_t count;
        size_t capacity;
};

/* INTERVAL_NS > 0. */
void interval_series_init(struct interval_series *series, int64_t interval_ns);
void interval_series_free(struct interval_series *series);

/* Adds READING, split in proportion to time over its intervals. Add readings by ascending
 * start_ns. Returns -ENOMEM, or -EINVAL for impossible times: zero or negative duration,
 * or more than READING_INTERVALS_MAX intervals. */
enum { READING_INTERVALS_MAX = 64 };
int interval_series_add(struct interval_series *series,
                        const struct thread_reading *reading);

/* The time span of interval ID. The first and last interval begin and end with the
 * counter values: a run seldom fills them. */
void interval_span(const struct interval_series *series, int64_t id, int64_t *start_ns,
                   int64_t *end_ns);

/* Metrics are NAN if their counters are missing. KNOWN: the concepts that the run
 * counted; a known counter without an increment is zero. */
struct interval_metrics {
        /* beta + gamma: loads that missed L1D or hit a fill buffer. */
        double miss_loads;
        /* alpha / (beta + gamma), H20's load miss real latency. */
        double lmrl_cycles;
        /* alpha / beta. */
        double l1_miss_latency_cycles;
        /* Share of cycles with a request waiting for a fill buffer. */
        double fb_full_ratio;
        double full_cycles_per_line; /* full fill buffers, by lines read or written */
        /* FB_FULL + SQ_FULL (M17): fb_full_ratio plus waits for an entry of the queue
         * beyond L2, if counted. */
        double buffers_full_ratio;
        double dram_lines_per_cycle; /* read or written, the larger */
        /* Mean number of cores that ran threads waiting for memory. */
        double active_cores;
        double read_gbs; /* 10^9 bytes a second */
        double write_gbs;
        /* Used cycles, divided by one core's cycles. */
        double used_cores;
        /* Mean number of outstanding L1D misses: upper limit of the share of cycles that
         * waited for one. */
        double pending_ratio;
        double instructions_per_cycle;
        /* M17, as shares of the cycles. Stalled for memory: max(RESOURCE_STALLS.SB,
         * STALLS_L1D_PENDING). Its bandwidth part: max(RESOURCE_STALLS.SB, FB_FULL +
         * SQ_FULL), on CPUs without SQ_FULL the fill buffers only. The remainder is the
         * latency part. */
        double memory_stall_ratio;
        double bandwidth_stall_ratio;
        /* Share of cycles in the kernel for page faults and system calls; 0: not counted.
         */
        double kernel_ratio;
        /* From samples (interval_samples.h). idle_part: share of time without DRAM
         * traffic; NAN: not known. remote_part: share of DRAM lines from another node. */
        double idle_part;
        double remote_part;
        /* Mean latency of sampled accesses that DRAM served; NAN: too few. */
        double dram_sample_cycles;
        /* More than a third of the time that buffers were taken, they were taken by lines
         * that crowd into few sets of L1. */
        bool sets_crowd;
        /* Upper end of the 95 % range of the sampled stall share; NAN: not known. */
        double sampled_stall_most;
        /* Cycles without execution: CYCLES_NO_EXECUTE. Stalls on loads that L2 served:
         * STALLS_L1D_PENDING less STALLS_L2_PENDING. Stalls beyond L2: STALLS_L2_PENDING.
         * Stalls on loads that the last cache served: STALLS_L2_PENDING less
         * STALLS_L3_MISS. Stalls beyond the last cache: STALLS_L3_MISS. */
        double stall_ratio;
        double l2_stall_ratio;
        double beyond_l2_stall_ratio;
        double l3_stall_ratio;
        double dram_stall_ratio;
};

/* CLOCK_MHZ may be NAN. */
struct interval_metrics interval_metrics(const struct interval *interval,
                                         const bool known[CONCEPT_COUNT],
                                         double clock_mhz);

/* Limits the stalls to the upper estimate from samples. Cycles without execution during a
 * miss may belong to a chain of arithmetic. While fill buffers are free, a full store
 * buffer waits for bandwidth at most as long as idle DRAM takes for all its lines, one by
 * one. The rest is latency, for example of lines that another core has. NAN: not known.
 */
void interval_limit_stalls(struct interval_metrics *metrics, double dram_latency_cycles);

#endif
