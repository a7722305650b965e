/* SPDX-License-Identifier: MIT */
/* Finds out what this kernel and CPU accept, by opening events on this thread or on a
 * CPU, without letting them run, and closing them again. */
#ifndef MEMLAG_PERF_PLAN_TRY_H
#define MEMLAG_PERF_PLAN_TRY_H

#include "plan_ibs.h"
#include "plan_pebs.h"

/* Makes PLAN for this machine as good as its kernel accepts it: the highest precision,
 * the three-part weight where the kernel has it, and as many counters beside the samples
 * as there are. plan_free frees it, also after an error. A negative errno value with the
 * reason and the remedy in DIAG. */
int plan_try_pebs(const struct machine *machine, const struct plan_options *options,
                  struct plan *plan, struct diag *diag);

/* The same for IBS. */
int plan_try_ibs(const struct machine *machine, const struct plan_options *options,
                 struct plan *plan, struct diag *diag);

#endif
