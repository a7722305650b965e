/* SPDX-License-Identifier: MIT */
/* What the sources that use the CPU's own sampling have in common: from the user's
 * options to a plan that the kernel accepts, and what the run says about it. */
#ifndef MEMLAG_SOURCE_HARDWARE_H
#define MEMLAG_SOURCE_HARDWARE_H

#include "perf/machine.h"
#include "perf/plan.h"
#include "source.h"

/* Makes the plan of a source, as plan_try_pebs does. */
typedef int source_hardware_plan(const struct machine *machine,
                                 const struct plan_options *options, struct plan *plan,
                                 struct diag *diag);

/* The probe and open of source_ops. The latter stores what MACHINE is and how counters
 * share the PMU, counts what finds no place on it, and says on stderr what costs the
 * program time. */
int source_hardware_probe(source_hardware_plan *make,
                          const struct source_options *options, struct diag *diag);
int source_hardware_open(source_hardware_plan *make, const struct source_options *options,
                         struct sink *sink, struct source **source, struct diag *diag);

#endif
