/* SPDX-License-Identifier: MIT */
/* The plan for Intel CPUs: loads sampled by latency, stores, and groups of counters that
 * fit beside them. Pure: everything that must be looked at or tried is in its arguments.
 */
#ifndef MEMLAG_PERF_PLAN_PEBS_H
#define MEMLAG_PERF_PLAN_PEBS_H

#include "diag.h"
#include "machine.h"
#include "plan.h"

/* What the kernel turned out to accept (plan_try.h finds out). */
struct pebs_limits {
        /* 1 to 3, or less where a PMU says so (caps/max_precise). 0, imprecise, is never
         * taken instead: such samples have no address. */
        int precise_ip;
        bool weight_struct; /* it has PERF_SAMPLE_WEIGHT_STRUCT */
        unsigned counters;  /* general counters of a core; 0: as many as it should have */
};

/* Makes PLAN, which plan_free frees also after an error. -ENODEV when no core PMU has the
 * events for what OPTIONS asks, with the reason and the remedy in DIAG; -EINVAL when
 * OPTIONS cannot be; -ENOMEM. */
int plan_pebs(const struct machine *machine, const struct plan_options *options,
              const struct pebs_limits *limits, struct plan *plan, struct diag *diag);

#endif
