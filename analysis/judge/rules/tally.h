/* SPDX-License-Identifier: MIT */
/* Sums over samples, and the share of a part in the whole with its confidence interval.
 * Pure arithmetic. */
#ifndef MEMLAG_TALLY_H
#define MEMLAG_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "longest.h"
#include "verdict.h"

/* The number of contended samples, and how many are known. */
struct contended_tally {
        int64_t samples;
        int64_t told;   /* samples of intervals with a known answer */
        int64_t untold; /* samples that the counters cannot decide */
};

/* An estimate with its 95 % confidence interval. */
struct share {
        double value;
        double low;
        double high;
};

/* Samples that waited for one cache level. */
struct cache_tally {
        int64_t samples;
        double latency_cycles;
        double retire_cycles;
};

/* The sums of a line, function, object or the whole run. */
struct tally {
        int64_t samples;
        int64_t latencies; /* samples with a latency */
        int64_t levels;    /* samples with a known level, and among them DRAM samples */
        int64_t dram_samples;
        struct contended_tally contended;
        /* Shares are computed from cost: latency, or the stall time of timer samples. */
        double cost;
        double cost_squared; /* sum of squares */
        double latency_cycles;
        int64_t retirements;   /* samples with a retire latency */
        double retire_cycles;  /* sum of retire latencies */
        double retire_squared; /* sum of their squares */
        double cause_latency_cycles[CAUSE_COUNT];
        /* Retire latencies by cause. */
        double cause_retire_cycles[CAUSE_COUNT];
        struct cache_tally caches[2]; /* CAUSE_CACHE samples that L2 or L3 served */
        struct longest longest;       /* of samples with a latency */
        int64_t faults;               /* page faults */
        double fault_cycles;          /* in the kernel, for the page faults */
};

/* A tally without a verdict: a line's loads from one field of an object. */
struct short_tally {
        int64_t samples;
        int64_t latencies;
        double latency_cycles;
        int64_t retirements;
        double retire_cycles;
        struct contended_tally contended;
};

/* The parts of samples that a verdict adds up: the causes, and finer parts of them. A
 * view with sums over these parts can judge any set of samples. */
enum tally_part {
        TALLY_UNTOLD =
            CAUSE_COUNT, /* CAUSE_DRAM, and the counters do not tell contention */
        TALLY_L2,        /* CAUSE_CACHE, by the cache that served the load */
        TALLY_L3,
        TALLY_PARTS
};

/* SAMPLE's part: an enum cause or an enum tally_part. */
int tally_part(const struct sample_facts *sample, enum answer contended,
               enum cause cause);

/* What distinguishes PART from its cause: "L2", "L3" or "". */
const char *tally_part_detail(int part);

/* The verdict on samples that are all in PART. */
enum verdict tally_part_verdict(int part);

/* SAMPLE's contribution to a tally's cost. */
double tally_cost(const struct sample_facts *sample);

void tally_add(struct tally *tally, const struct sample_facts *sample,
               enum answer contended, enum cause cause);

/* Adds FAULTS page faults that took KERNEL_CYCLES. */
void tally_add_faults(struct tally *tally, int64_t faults, double kernel_cycles);

void short_tally_add(struct short_tally *tally, const struct sample_facts *sample,
                     enum answer contended);

/* Whether enough samples stalled the program to rank by stall time. Otherwise the ranking
 * uses cost. */
bool tally_tells_stalls(const struct tally *tally);

/* For VERDICT_CACHE: the cache that served most of the waits, LEVEL_L2 or LEVEL_L3.
 * LEVEL_NA: too few samples requested a line from a cache. */
enum level tally_cache_level(const struct tally *tally);

/* The number of contended samples; -1: some may be, but their intervals are unknown. */
int64_t tally_contended(const struct contended_tally *contended);

/* The number of samples that DRAM served; -1: no sample has a level. */
int64_t tally_dram(const struct tally *tally);

/* The input of a verdict; longest.h limits each sample. LOADS_PER_CYCLE: loads per sample
 * over TOTAL_CYCLES, the cycles of the run; NAN if not known. */
struct verdict_facts tally_facts(const struct tally *tally, double loads_per_cycle,
                                 double total_cycles);

/* The mean over LATENCIES samples; NAN without samples. */
double tally_mean_latency(double latency_cycles, int64_t latencies);

/* The share of the run's cycles that PART's loads stalled. Each sample of WHOLE, one of
 * LOADS_PER_SAMPLE, stands for LOADS_PER_CYCLE (see tally_facts). NAN if that is not
 * known, or if the samples have no retire latency. A few loads cause most stall time,
 * therefore the range is the score interval of a Poisson count (L. Brown, T. Cai and A.
 * DasGupta, Statistica Sinica 13, 2003). Its event size gives the variance of a simple
 * random sample of all loads (Cochran, Sampling Techniques, 3rd edition, section 2.6). A
 * PART without stalls uses WHOLE's event size, or its own mean latency if that is less.
 * The ends are at most all cycles; the estimate may be more. */
struct share tally_stalled(const struct tally *part, const struct tally *whole,
                           double loads_per_sample, double loads_per_cycle);

/* The share RATIO, found in a simple sample of N, with Wilson's score interval (JASA 22,
 * 1927). */
struct share sampled_share(double ratio, double n);

/* PART's share of WHOLE's cost; all samples stand for equally many loads. The variance is
 * from a ratio estimator (Cochran, Sampling Techniques, 3rd edition, section 6.3). The
 * range comes from sampled_share, for the size of a simple sample with this variance. NAN
 * if WHOLE has no cost. */
struct share cost_share(const struct tally *part, const struct tally *whole);

#endif
