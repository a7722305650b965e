/* SPDX-License-Identifier: MIT */
/* Probes the kernel's and CPU's limits. Opens events on this thread or on a CPU, without
 * running them, and closes them again. */
#ifndef MEMLAG_PERF_PLAN_TRY_H
#define MEMLAG_PERF_PLAN_TRY_H

#include "plan_ibs.h"
#include "plan_pebs.h"

/* Makes the best PLAN that this machine's kernel accepts: the highest precision, the
 * three-part weight if the kernel supports it, and as many counters beside the samples
 * as possible. plan_free frees it, also after an error. Returns a negative errno value
 * with the reason and the remedy in DIAG. */
int plan_try_pebs(const struct machine *machine, const struct plan_options *options,
                  struct plan *plan, struct diag *diag);

/* The same for IBS. */
int plan_try_ibs(const struct machine *machine, const struct plan_options *options,
                 struct plan *plan, struct diag *diag);

#endif
