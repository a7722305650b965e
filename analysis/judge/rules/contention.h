/* SPDX-License-Identifier: MIT */
/* Rules of doc/method.md, with their thresholds: was an interval short of DRAM bandwidth,
 * and what bound it? No database. */
#ifndef MEMLAG_CONTENTION_H
#define MEMLAG_CONTENTION_H

#include <stdbool.h>

#include "interval.h"

/* Known facts about the machine; names are the keys of table machine (doc/schema.md). */
#define MACHINE_FACTS(X)                                                                 \
        X(clock_mhz)                                                                     \
        X(issue_width)                                                                   \
        X(line_bytes)                                                                    \
        X(l1d_bytes)                                                                     \
        X(l1d_latency_cycles)                                                            \
        X(l1d_set_interval_l2_cycles)                                                    \
        X(l1d_set_interval_l3_cycles)                                                    \
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
        X(dram_nodes)                                                                    \
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

/* The thresholds of the rules; NAN if neither the machine's facts nor the run gave a
 * value. */
struct thresholds {
        /* LMRL must exceed its uncontended value by this factor. */
        double lmrl_factor;
        /* LMRL of the run's quiet intervals, for machines without facts. */
        double quiet_lmrl_cycles;
        /* An interval with less traffic is not contended, at any LMRL. */
        double bandwidth_gbs;
        /* An interval with more traffic has little bandwidth left: a few more parallel
         * requests would use it up. */
        double near_gbs;
        /* An interval with more traffic, or more writes, is saturated, at any LMRL. */
        double saturated_gbs;
        double saturated_write_gbs;
        /* Fewer cores cannot saturate DRAM below the knee. */
        double knee_gbs;
        double saturating_cores;
        double lfb_entries; /* fill buffers of a core */
        /* A load with a longer latency was slower than an uncontended DRAM load. */
        double high_latency_cycles;
        /* DRAM cannot serve a load in a shorter time. */
        double prefetched_latency_cycles;
        /* A load of a line from DRAM with a longer latency waited longer for a buffer
         * than for DRAM. */
        double queued_latency_cycles;
        /* No cache can have served a load with a longer latency. */
        double cache_latency_cycles;
};

/* Constants of the rules that other thresholds are derived from or printed with. */
extern const double LMRL_FACTOR;
extern const double CONTENDED_BANDWIDTH_PART;
extern const double NEAR_BANDWIDTH_PART;
extern const double SATURATED_BANDWIDTH_PART;
extern const double FB_FULL_RATIO;
extern const double FB_SHORT_RATIO;
extern const double PATH_FULL_PART;

/* The calibrated LMRL threshold, as a multiple of the idle LMRL. NAN if calibration gave
 * none, or an implausible one. */
double measured_lmrl_factor(const struct machine_facts *facts);

/* The LMRL of loads that all read idle DRAM. Uses the calibrated idle LMRL if its factor
 * is plausible, else the DRAM latency. */
double idle_dram_lmrl(const struct machine_facts *facts);

/* Returns MACHINE with the idle latency of a mix of local and remote memory: REMOTE_PART
 * of the lines take REMOTE_CYCLES (NAN: not known). */
struct machine_facts machine_of_mix(const struct machine_facts *machine,
                                    double remote_part, double remote_cycles);

/* The least number of nodes whose memory moves the traffic of METRICS, by the peak of a
 * node. */
double interval_nodes(const struct interval_metrics *metrics,
                      const struct machine_facts *machine);

/* Returns METRICS with the traffic of one of these nodes, as all have the same. */
struct interval_metrics metrics_of_node(const struct interval_metrics *metrics,
                                        const struct machine_facts *machine);

/* The LMRL of INTERVAL's loads on an idle memory, in cycles per load. Each missed line
 * counts with the idle latency of its level. NAN if a counter or a fact is missing. */
double uncontended_lmrl(const struct interval *interval, const bool known[CONCEPT_COUNT],
                        const struct machine_facts *facts);

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

/* UNCONTENDED_LMRL: result of uncontended_lmrl, or NAN. */
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

/* Whether slow loads in the interval met exhausted DRAM bandwidth. The interval was
 * contended, or DRAM was saturated while prefetches kept LMRL low. */
enum answer bandwidth_short(enum answer contended, enum bound bound);

/* Whether fill buffers or entries of the queue beyond L2 ran out for a part of the
 * interval. The bound of the interval may be another. */
bool interval_lacks_buffers(const struct interval_metrics *metrics);

/* Whether they ran out for so long that they set the rate of misses. */
bool interval_buffers_full(const struct interval_metrics *metrics);

/* Whether the buffers are known to have been free for nearly the whole interval. */
bool interval_buffers_free(const struct interval_metrics *metrics);

/* The used part of the bandwidth of the path from L3 to the cores; NAN: not known. From
 * PATH_FULL_PART on the path is full: more buffers would gain nothing. */
double interval_path_use(const struct interval *interval, const bool known[CONCEPT_COUNT],
                         const struct machine_facts *machine);

/* The used part of DRAM's bandwidth; NAN: not known. */
double interval_bandwidth_use(const struct interval_metrics *metrics,
                              const struct machine_facts *machine);

/* The name in the database; NULL for BOUND_UNKNOWN. */
const char *bound_name(enum bound bound);

#endif
