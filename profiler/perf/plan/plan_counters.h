/* SPDX-License-Identifier: MIT */
/* The groups of counters on one kind of Intel's cores, beside the samples: counters for
 * LMRL (H20) and for stalls (M17), cycles and instructions. Pure. */
#ifndef MEMLAG_PERF_PLAN_COUNTERS_H
#define MEMLAG_PERF_PLAN_COUNTERS_H

#include "intel_core.h"
#include "plan.h"

/* Adds CORE's groups to PLAN. Events of one metric are in one group, or left out and
 * named in the plan. -ENOMEM. */
int plan_counters(const struct intel_core *core, struct plan *plan);

#endif
