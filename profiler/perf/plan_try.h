/* SPDX-License-Identifier: MIT */
/* Finds out what this kernel and CPU accept, by opening events on this thread, without
 * letting them run, and closing them again. */
#ifndef MEMLAG_PERF_PLAN_TRY_H
#define MEMLAG_PERF_PLAN_TRY_H

#include "plan_ibs.h"
#include "plan_pebs.h"

/* Opens GROUP and, as more of its members, the events of BESIDE (or NULL): the kernel
 * refuses with EINVAL what can never be on the PMU together. 0 or a negative errno
 * value. */
int plan_try_group(const struct plan_group *group, const struct plan_group *beside);

/* Makes PLAN for this machine as good as its kernel accepts it: the highest precision,
 * the three-part weight where the kernel has it, and as many counters beside the samples
 * as there are. plan_free frees it, also after an error. A negative errno value with the
 * reason and the remedy in DIAG. */
int plan_try_pebs(const struct machine *machine, const struct plan_options *options,
                  struct plan *plan, struct diag *diag);

/* The same for IBS. */
int plan_try_ibs(const struct machine *machine, const struct plan_options *options,
                 struct plan *plan, struct diag *diag);

/* The reason and the remedy when opening EVENT failed with ERROR, a negative errno value,
 * which is returned. */
int plan_try_explain(int error, const struct machine *machine, const char *event,
                     struct diag *diag);

#endif
