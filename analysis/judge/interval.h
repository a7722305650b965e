/* SPDX-License-Identifier: MIT */
/* Counter readings of threads, summed machine-wide into intervals of equal
 * length, and the metrics of an interval. Pure arithmetic: no database. */
#ifndef MEMLAG_INTERVAL_H
#define MEMLAG_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"

/* What the counters of one thread gained over [start_ns, end_ns). */
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
        /* Cycles of the threads that had loads' L1D misses outstanding, or waited for
         * stores, for a good part of them (interval.c says how much). */
        double memory_cycles;
};

struct interval_series {
        int64_t interval_ns;
        int64_t first_ns; /* of all readings */
        int64_t last_ns;
        struct interval *intervals; /* by ascending id; without readings: absent */
        size_t count;
        size_t capacity;
};

/* INTERVAL_NS > 0. */
void interval_series_init(struct interval_series *series, int64_t interval_ns);
void interval_series_free(struct interval_series *series);

/* Adds READING, split over the intervals that it covers in proportion to time.
 * Readings come by ascending start_ns. -EINVAL when its times cannot be a
 * reading's (none or negative duration, or more than READING_INTERVALS_MAX
 * intervals long), -ENOMEM. */
enum { READING_INTERVALS_MAX = 64 };
int interval_series_add(struct interval_series *series,
                        const struct thread_reading *reading);

/* The span of interval ID; the series' first and last one begin and end with
 * the readings, because a run seldom fills them. */
void interval_span(const struct interval_series *series, int64_t id, int64_t *start_ns,
                   int64_t *end_ns);

/* Each is NAN where the counters do not tell. KNOWN: the concepts that the run
 * counted; what a known counter did not gain is zero. */
struct interval_metrics {
        /* beta + gamma: loads that missed L1D or hit a fill buffer. */
        double miss_loads;
        /* alpha / (beta + gamma), H20's load miss real latency. */
        double lmrl_cycles;
        /* alpha / beta. */
        double l1_miss_latency_cycles;
        /* Share of the cycles in which a request waited for a fill buffer. */
        double fb_full_ratio;
        /* The same, or for a place in the queue beyond L2 where that is counted: FB_FULL
         * + SQ_FULL (M17). */
        double buffers_full_ratio;
        /* Mean number of cores that ran threads waiting for memory. */
        double active_cores;
        double read_gbs; /* 10^9 bytes a second */
        double write_gbs;
        /* Used cycles in terms of one core's cycles. */
        double used_cores;
        /* Mean number of L1D misses outstanding: the greatest share of the cycles
         * that can have been spent waiting for one. */
        double pending_ratio;
        double instructions_per_cycle;
        /* M17, as shares of the cycles. Stalled for memory: max(RESOURCE_STALLS.SB,
         * STALLS_L1D_PENDING). Of these, for its bandwidth: max(RESOURCE_STALLS.SB,
         * FB_FULL + SQ_FULL); CPUs without the last have their fill buffers only. The
         * rest of the first is for its latency. */
        double memory_stall_ratio;
        double bandwidth_stall_ratio;
        /* Cycles in the kernel, for page faults and system calls; 0: not counted. */
        double kernel_ratio;
        /* By the samples (interval_samples.h). The part of the time without DRAM traffic;
         * NAN: not known. Of the lines from DRAM, those of another node. */
        double idle_part;
        double remote_part;
        /* Upper end of the 95 % range of the share for which sampled accesses stalled;
         * NAN: not known. */
        double sampled_stall_most;
        /* Cycles without execution: CYCLES_NO_EXECUTE; of those beside a waiting load,
         * the ones in which L2 had what it waited for, STALLS_L1D_PENDING less
         * STALLS_L2_PENDING, and the latter; of these, the ones in which the last cache
         * had it, STALLS_L2_PENDING less STALLS_L3_MISS, and the latter. */
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

/* Stalls are no more than METRICS's samples can have made: cycles without execution
 * beside a miss may be those of a chain of arithmetic. */
void interval_limit_stalls(struct interval_metrics *metrics);

#endif
