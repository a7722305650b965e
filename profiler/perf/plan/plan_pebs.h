/* SPDX-License-Identifier: MIT */
/* The plan for Intel CPUs: loads sampled by latency, stores, and groups of counters that
 * fit beside them. Pure: everything that must be looked at or tried is in its arguments.
 */
#ifndef MEMLAG_PERF_PLAN_PEBS_H
#define MEMLAG_PERF_PLAN_PEBS_H

#include "diag.h"
#include "machine_facts.h"
#include "plan.h"

/* Limits of the kernel, found by plan_try.h. */
struct pebs_limits {
        /* 1 to 3, or less if a PMU limits it (caps/max_precise). Never 0, imprecise:
         * such samples have no address. */
        int precise_ip;
        bool weight_struct; /* it has PERF_SAMPLE_WEIGHT_STRUCT */
        unsigned counters;  /* general counters of a core; 0: as many as it should have */
};

/* Makes PLAN; plan_free frees it, also after an error. -ENODEV when no core PMU has the
 * events for OPTIONS, with the reason and the remedy in DIAG. -EINVAL when OPTIONS are
 * impossible; -ENOMEM. */
int plan_pebs(const struct machine *machine, const struct plan_options *options,
              const struct pebs_limits *limits, struct plan *plan, struct diag *diag);

/* Whether the plan WITH stores counts LMRL as the same plan WITHOUT them does: all of its
 * events in one group, for as much of the time. */
bool plan_pebs_stores_are_free(const struct plan *with, const struct plan *without);

#endif
