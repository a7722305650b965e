/* SPDX-License-Identifier: MIT */
/* Where the rules' thresholds come from: the machine's facts, or the run's own
 * quiet intervals. */
#ifndef MEMLAG_THRESHOLDS_H
#define MEMLAG_THRESHOLDS_H

#include "contention.h"
#include "facts.h"

/* The thresholds that follow from MACHINE; NAN where it lacks the fact. */
struct thresholds thresholds_of_machine(const struct machine_facts *machine);

/* The median LMRL of the intervals that moved at most a quarter of the greatest
 * rate, when there are at least QUIET_INTERVALS_MIN of them with enough loads;
 * else NAN. *PEAK_GBS gets that greatest rate (NAN: DRAM bytes were not counted,
 * and then the tenth of the intervals with the lowest LMRL count as quiet). */
enum { QUIET_INTERVALS_MIN = 5 };
int quiet_lmrl(const struct interval_metrics *metrics, size_t count, double *lmrl_cycles,
               double *peak_gbs);

/* Derives all thresholds and stores them with their origin. METRICS are those of
 * COUNTERS' intervals. */
int thresholds_derive(struct db *db, const struct machine_facts *machine,
                      const struct machine_origins *origins,
                      const struct run_counters *counters,
                      const struct interval_metrics *metrics,
                      struct thresholds *thresholds, struct diag *diag);

#endif
