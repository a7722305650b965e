/* SPDX-License-Identifier: MIT */
/* Compilers make one access of several, before a branch or behind it: what it reads is
 * then of whichever variable points there, and those may point to different things. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_ACCESS_H
#define MEMLAG_SYMBOLIZE_MERGED_ACCESS_H

#include "flow_walk.h"

/* Whether the access of step number STEP of WALK's code, before which STATE holds, may as
 * well be one by another variable, which points to something else that ACCESS fits. AHEAD
 * says that nothing but what comes behind tells the base. False where nothing tells, and
 * where memory is short: -ENOMEM is put into the reader. */
bool merged_access(const struct flow_walk *walk, struct flow_state *state, size_t step,
                   const struct type_access *access, bool ahead);

#endif
