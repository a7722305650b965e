/* SPDX-License-Identifier: MIT */
/* The calling-context tree by functions: which calls led to the samples. */
#ifndef MEMLAG_CALLERS_H
#define MEMLAG_CALLERS_H

#include "db.h"

/* LOADS_PER_CYCLE: as in tally.h.
 * Writes caller_finding, which is empty, from the memory samples, their stacks and the
 * names. Each sample counts once: at the function that it is in, at the end of the path
 * of its callers; functions that were inlined are steps of the path like others. */
int callers_make(struct db *db, double loads_per_cycle, struct diag *diag);

#endif
