/* SPDX-License-Identifier: MIT */
/* The plan for AMD CPUs: instruction-based sampling of operations (IBS op; AMD, Processor
 * Programming Reference, MSR C001_1033 and following), and the cycles and instructions
 * beside them. Pure. */
#ifndef MEMLAG_PERF_PLAN_IBS_H
#define MEMLAG_PERF_PLAN_IBS_H

#include "diag.h"
#include "machine_facts.h"
#include "plan.h"

/* Makes PLAN; plan_free frees it, also after an error. One in options->period operations
 * is sampled, rounded to a period that the hardware supports; some samples are loads and
 * stores. Capable hardware retains only loads of options->ldlat_cycles or more, in steps
 * of 128 from 128 to 2048. On other hardware a threshold is -EINVAL. -ENODEV when the
 * machine has no IBS, with the reason and the remedy in DIAG. */
int plan_ibs(const struct machine *machine, const struct plan_options *options,
             bool weight_struct, struct plan *plan, struct diag *diag);

#endif
