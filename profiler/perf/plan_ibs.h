/* SPDX-License-Identifier: MIT */
/* The plan for AMD CPUs: instruction-based sampling of operations (IBS op; AMD, Processor
 * Programming Reference, MSR C001_1033 and following), and the cycles and instructions
 * beside them. Pure. */
#ifndef MEMLAG_PERF_PLAN_IBS_H
#define MEMLAG_PERF_PLAN_IBS_H

#include "diag.h"
#include "machine.h"
#include "plan.h"

/* Makes PLAN, which plan_free frees also after an error. A sample is an operation, and
 * one in options->period of them is sampled, rounded to what the hardware takes; of those
 * some are loads and stores. Where the hardware can, it keeps only loads of
 * options->ldlat_cycles or more, in steps of 128 from 128 to 2048; elsewhere a threshold
 * is -EINVAL. -ENODEV when the
 * machine has no IBS, with the reason and the remedy in DIAG. */
int plan_ibs(const struct machine *machine, const struct plan_options *options,
             bool weight_struct, struct plan *plan, struct diag *diag);

#endif
