/* SPDX-License-Identifier: MIT */
/* Whether an interval was short of DRAM bandwidth, and what bound it: the rules
 * of doc/method.md, with their thresholds. No database. */
#ifndef MEMLAG_CONTENTION_H
#define MEMLAG_CONTENTION_H

#include <stdbool.h>

#include "interval.h"

enum { LINE_BYTES = 64 }; /* that DRAM is read and written by */

/* What is known about the machine, by the keys of the table machine, which
 * doc/schema.md explains. */
#define MACHINE_FACTS(X)                                                                 \
        X(clock_mhz)                                                                     \
        X(l1d_latency_cycles)                                                            \
        X(l2_latency_cycles)                                                             \
        X(l3_latency_cycles)                                                             \
        X(l3_bytes_per_cycle)                                                            \
        X(stlb_latency_cycles)                                                           \
        X(page_walk_cycles)                                                              \
        X(page_walkers)                                                                  \
        X(lfb_entries)                                                                   \
        X(hitm_latency_cycles)                                                           \
        X(remote_dram_latency_cycles)                                                    \
        X(remote_cache_latency_cycles)                                                   \
        X(dram_latency_cycles)                                                           \
        X(dram_bandwidth_gbs)                                                            \
        X(dram_write_bandwidth_gbs)                                                      \
        X(dram_knee_gbs)                                                                 \
        X(idle_lmrl_cycles)                                                              \
        X(lmrl_threshold_cycles)                                                         \
        X(saturating_cores)

/* NAN where a fact is not known. */
struct machine_facts {
#define MACHINE_FACT(key) double key;
        MACHINE_FACTS(MACHINE_FACT)
#undef MACHINE_FACT
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
        /* An interval that moves more, or writes more, has reached the limit, whatever
         * its LMRL. */
        double saturated_gbs;
        double saturated_write_gbs;
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
extern const double FB_SHORT_RATIO;

/* The threshold of LMRL that a calibration measured, as a multiple of its idle LMRL; NAN
 * where it measured none, or one that cannot be right. */
double measured_lmrl_factor(const struct machine_facts *facts);

/* The LMRL of loads that all go to an idle DRAM: measured where the factor is, else
 * DRAM's latency. */
double idle_dram_lmrl(const struct machine_facts *facts);

/* MACHINE with the idle latency of a mix of local and remote memory, in which REMOTE_PART
 * of the lines take REMOTE_CYCLES (NAN: not known). */
struct machine_facts machine_of_mix(const struct machine_facts *machine,
                                    double remote_part, double remote_cycles);

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
        BOUND_BANDWIDTH,
        BOUND_KERNEL
};

enum bound interval_bound(const struct interval_metrics *metrics, enum answer contended,
                          const struct thresholds *thresholds);

/* Whether DRAM had no bandwidth left for a load that was slow in the interval: it was
 * contended, or DRAM was at its limit while prefetches kept LMRL low. */
enum answer bandwidth_short(enum answer contended, enum bound bound);

/* Whether fill buffers or places in the queue beyond L2 ran out for a part of the
 * interval, whatever bound the rest of it. */
bool interval_lacks_buffers(const struct interval_metrics *metrics);

/* Whether they are known to have been free for nearly all of it. */
bool interval_buffers_free(const struct interval_metrics *metrics);

/* Whether lines came to the cores, from L3 and beyond, about as fast as the path from
 * there lets them, while DRAM had bandwidth left: more buffers would gain nothing. */
bool interval_path_full(const struct interval *interval, const bool known[CONCEPT_COUNT],
                        const struct machine_facts *machine);

/* The name in the database; NULL for BOUND_UNKNOWN. */
const char *bound_name(enum bound bound);

#endif
