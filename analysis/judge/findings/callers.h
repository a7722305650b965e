/* SPDX-License-Identifier: MIT */
/* The calling-context tree by functions: which calls led to the samples. */
#ifndef MEMLAG_CALLERS_H
#define MEMLAG_CALLERS_H

#include "db.h"

/* LOADS_PER_SAMPLE and the run's TOTAL_CYCLES may be NAN (unknown). Fills the empty table
 * caller_finding from the memory samples, their stacks and the names. Each sample counts
 * once: in its innermost function, at the end of its call path. Inlined functions are
 * nodes of the path like others. Stall time includes page faults, but page faults are no
 * samples. */
int callers_make(struct db *db, double loads_per_sample, double total_cycles,
                 struct diag *diag);

#endif
