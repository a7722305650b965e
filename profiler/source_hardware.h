/* SPDX-License-Identifier: MIT */
/* What the sources that use the CPU's own sampling have in common before the session
 * begins: from the user's options to a plan's, and what the run says about its plan. */
#ifndef MEMLAG_SOURCE_HARDWARE_H
#define MEMLAG_SOURCE_HARDWARE_H

#include "perf/machine.h"
#include "perf/plan.h"
#include "source.h"

/* This machine; machine_free. */
void source_hardware_read(struct machine *machine);

struct plan_options source_hardware_wishes(const struct source_options *options);

/* Stores the clock of MACHINE and how counters share the PMU under PLAN, counts what
 * finds no place on it, and says on stderr what costs the program time. */
int source_hardware_tell(struct sink *sink, const struct machine *machine,
                         const struct plan *plan, struct diag *diag);

#endif
