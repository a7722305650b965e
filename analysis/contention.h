/* SPDX-License-Identifier: MIT */
/* Whether an interval was short of DRAM bandwidth, and what bound it: the rules
 * of doc/method.md, with their thresholds. No database. */
#ifndef MEMLAG_CONTENTION_H
#define MEMLAG_CONTENTION_H

#include <stdbool.h>

#include "interval.h"

/* What is known about the machine; NAN where it is not. */
struct machine_facts {
        double clock_mhz;
        double l1d_latency_cycles;
        double l2_latency_cycles;
        double l3_latency_cycles;
        double dram_latency_cycles; /* idle, load to use */
        double dram_bandwidth_gbs;  /* reads and writes together */
        double dram_knee_gbs;    /* where the latency under load has grown by a quarter */
        double saturating_cores; /* that reach the peak of the bandwidth */
};

/* The values that the rules compare with; NAN where neither the machine's
 * facts nor the run gave one. */
struct thresholds {
        /* How many times its uncontended value LMRL must exceed. */
        double lmrl_factor;
        /* LMRL of the run's quiet intervals; used where the facts are missing. */
        double quiet_lmrl_cycles;
        /* An interval that moves less is not contended, whatever its LMRL. */
        double bandwidth_gbs;
        /* An interval that moves more has reached the limit, whatever its LMRL. */
        double saturated_gbs;
        /* Fewer cores cannot make memory short while less than the knee is moved. */
        double knee_gbs;
        double saturating_cores;
        /* A load that waits longer was slower than an uncontended DRAM load. */
        double high_latency_cycles;
        /* A load that waits longer cannot have been served by a cache. */
        double cache_latency_cycles;
};

/* Fixed parts of the rules that other thresholds are made of or shown with. */
extern const double LMRL_FACTOR;
extern const double CONTENDED_BANDWIDTH_PART;
extern const double SATURATED_BANDWIDTH_PART;
extern const double FB_FULL_RATIO;

/* The LMRL that the loads of INTERVAL would have had on an idle memory, in
 * cycles: the lines that loads waited for, each at the idle latency of where it
 * came from, per load. NAN when a counter or FACTS is missing. */
double uncontended_lmrl(const struct interval *interval, const bool known[CONCEPT_COUNT],
                        const struct machine_facts *facts);

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

/* UNCONTENDED_LMRL as above, or NAN. */
enum answer interval_contended(const struct interval_metrics *metrics,
                               double uncontended_lmrl,
                               const struct thresholds *thresholds);

enum bound {
        BOUND_UNKNOWN,
        BOUND_IDLE,
        BOUND_COMPUTE,
        BOUND_LATENCY,
        BOUND_IN_CORE,
        BOUND_BANDWIDTH
};

enum bound interval_bound(const struct interval_metrics *metrics, enum answer contended,
                          const struct thresholds *thresholds);

/* The name in the database; NULL for BOUND_UNKNOWN. */
const char *bound_name(enum bound bound);

#endif
