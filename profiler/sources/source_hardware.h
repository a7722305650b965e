/* SPDX-License-Identifier: MIT */
/* Common parts of the sources that use the CPU's hardware sampling: makes a plan that
 * the kernel accepts from the user's options, and stores facts about the run. */
#ifndef MEMLAG_SOURCE_HARDWARE_H
#define MEMLAG_SOURCE_HARDWARE_H

#include "perf/facts/machine_facts.h"
#include "perf/plan/plan.h"
#include "source.h"

/* Makes the plan of a source, as plan_try_pebs does. */
typedef int source_hardware_plan(const struct machine *machine,
                                 const struct plan_options *options, struct plan *plan,
                                 struct diag *diag);

/* The probe and open functions of source_ops. The open function stores MACHINE and how
 * counters share the PMU, and counts events that do not fit. It warns on stderr about
 * run-time costs. */
int source_hardware_probe(source_hardware_plan *make,
                          const struct source_options *options, struct diag *diag);
int source_hardware_open(source_hardware_plan *make, const struct source_options *options,
                         struct sink *sink, struct source **source, struct diag *diag);

#endif
