/* SPDX-License-Identifier: MIT */
/* Sums over samples, and the share of a part in the whole with its interval of
 * confidence. Pure arithmetic. */
#ifndef MEMLAG_TALLY_H
#define MEMLAG_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "longest.h"
#include "verdict.h"

/* Whether samples were contended, and whether it is known. */
struct contended_tally {
        int64_t samples;
        int64_t told;   /* of intervals that are known to be contended or not */
        int64_t untold; /* contended or not: the counters do not tell */
};

/* An estimate with its 95 % interval of confidence. */
struct share {
        double value;
        double low;
        double high;
};

/* Samples that waited for a cache, by the one that had their line. */
struct cache_tally {
        int64_t samples;
        double latency_cycles;
        double retire_cycles;
};

/* What is summed for each line, function, object and the whole run. */
struct tally {
        int64_t samples;
        int64_t latencies; /* samples with a latency */
        int64_t levels;    /* samples whose level is known, and of these */
        int64_t dram_samples;
        struct contended_tally contended;
        /* What shares are of: latency, or of timer samples the time stalled. */
        double cost;
        double cost_squared; /* sum of squares */
        double latency_cycles;
        int64_t retirements;   /* samples with a latency of retirement */
        double retire_cycles;  /* their sum */
        double retire_squared; /* and that of their squares */
        double cause_latency_cycles[CAUSE_COUNT];
        /* Of CAUSE_DRAM in crowded intervals (sample_crowded), and of these the samples
         * whose loads asked for the line. */
        double crowded_latency_cycles;
        double crowded_asking_cycles;
        /* The same of the latency of retirement. */
        double cause_retire_cycles[CAUSE_COUNT];
        double crowded_retire_cycles;
        struct cache_tally caches[2]; /* of CAUSE_CACHE: served by L2, by L3 */
        struct longest longest;       /* of those with a latency */
        int64_t faults;               /* page faults */
        double fault_cycles;          /* in the kernel, for these */
};

/* The same where no verdict is wanted: of a line's loads from one field of an object. */
struct short_tally {
        int64_t samples;
        int64_t latencies;
        double latency_cycles;
        struct contended_tally contended;
};

/* What SAMPLE adds to a tally's cost. */
double tally_cost(const struct sample_facts *sample);

void tally_add(struct tally *tally, const struct sample_facts *sample,
               enum answer contended, enum cause cause);

/* So many page FAULTS, which took KERNEL_CYCLES. */
void tally_add_faults(struct tally *tally, int64_t faults, double kernel_cycles);

void short_tally_add(struct short_tally *tally, const struct sample_facts *sample,
                     enum answer contended);

/* Whether enough samples tell for how long the loads held up the program. Where so, what
 * matters most at a place is told by that, and else by the cost. */
bool tally_tells_stalls(const struct tally *tally);

/* The cache that most of what a verdict of VERDICT_CACHE is found by waited for: LEVEL_L2
 * or LEVEL_L3; LEVEL_NA: hardly any of its samples asked one for a line. */
enum level tally_cache_level(const struct tally *tally);

/* The contended samples; -1: some may be, and the counters tell of no interval. */
int64_t tally_contended(const struct contended_tally *contended);

/* How many of the samples DRAM served; -1: no sample tells what served it. */
int64_t tally_dram(const struct tally *tally);

/* What a verdict is found by: no sample counts for more than longest.h says.
 * LOADS_PER_CYCLE: that a sample stands for, over the cycles of the run, which are
 * TOTAL_CYCLES; NAN when that is not known. */
struct verdict_facts tally_facts(const struct tally *tally, double loads_per_cycle,
                                 double total_cycles);

/* Of LATENCIES samples; NAN without any. */
double tally_mean_latency(double latency_cycles, int64_t latencies);

/* The part of the run's cycles for which PART's loads held up those behind them, when
 * each sample of WHOLE, one of LOADS_PER_SAMPLE, stands for LOADS_PER_CYCLE, as in
 * tally_facts; NAN when that is not known, or the samples do not tell. Few loads have
 * most of it, so that the interval is the score interval of a Poisson count (L. Brown, T.
 * Cai and A. DasGupta, Statistica Sinica 13, 2003) of events as large as makes the
 * variance that of the sum over a simple random sample of all loads (Cochran, Sampling
 * Techniques, 3rd edition, section 2.6); of no event, as large as WHOLE's. Its ends are
 * no more than all cycles, also where the estimate is. */
struct share tally_stalled(const struct tally *part, const struct tally *whole,
                           double loads_per_sample, double loads_per_cycle);

/* The share of PART's cost in WHOLE's, both of samples that stand for equally
 * many loads. The variance is that of a ratio estimator (Cochran, Sampling
 * Techniques, 3rd edition, section 6.3), the interval Wilson's score interval
 * (JASA 22, 1927) at the sample size that has this variance in simple sampling.
 * NAN when WHOLE has no cost. */
struct share cost_share(const struct tally *part, const struct tally *whole);

#endif
