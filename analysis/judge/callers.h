/* SPDX-License-Identifier: MIT */
/* The calling-context tree by functions: which calls led to the samples. */
#ifndef MEMLAG_CALLERS_H
#define MEMLAG_CALLERS_H

#include "db.h"

/* LOADS_PER_SAMPLE, and the run's TOTAL_CYCLES: NAN where not known.
 * Writes caller_finding, which is empty, from the memory samples, their stacks and the
 * names. Each sample counts once: at the function that it is in, at the end of the path
 * of its callers; functions that were inlined are steps of the path like others. The time
 * of page faults is in what was held up, and they are no samples. */
int callers_make(struct db *db, double loads_per_sample, double total_cycles,
                 struct diag *diag);

#endif
