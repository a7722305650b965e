/* SPDX-License-Identifier: MIT */
/* Derives the thresholds of the rules from the machine's facts or the run's quiet
 * intervals. */
#ifndef MEMLAG_THRESHOLDS_H
#define MEMLAG_THRESHOLDS_H

#include "contention.h"
#include "facts.h"

/* The thresholds from MACHINE's facts; NAN if a fact is missing. */
struct thresholds thresholds_of_machine(const struct machine_facts *machine);

/* *LMRL_CYCLES gets the median LMRL of the quiet intervals. They moved at most a quarter
 * of the greatest rate. NAN with fewer than QUIET_INTERVALS_MIN quiet intervals with
 * enough loads. *PEAK_GBS gets the greatest rate. If DRAM bytes were not counted, it is
 * NAN, and the tenth of the intervals with the lowest LMRL is quiet. */
enum { QUIET_INTERVALS_MIN = 5 };
int quiet_lmrl(const struct interval_metrics *metrics, size_t count, double *lmrl_cycles,
               double *peak_gbs);

/* Derives all thresholds and stores them with their origin. METRICS belong to COUNTERS'
 * intervals. */
int thresholds_derive(struct db *db, const struct machine_facts *machine,
                      const struct machine_origins *origins,
                      const struct run_counters *counters,
                      const struct interval_metrics *metrics,
                      struct thresholds *thresholds, struct diag *diag);

#endif
