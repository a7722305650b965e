/* SPDX-License-Identifier: MIT */
/* Finds the objects that a fix of the program moves, and where they are in a run of the
 * same program: in the names and types of the first recording. */
#ifndef MEMLAG_WHATIF_PLAN_H
#define MEMLAG_WHATIF_PLAN_H

#include "db.h"
#include "whatif_fix.h"

/* Adds to FIX the plan for TARGET, an object or a type, of the baseline DB. -ENOENT: no
 * sample is of it. -EINVAL: it cannot be moved; the message has the reason. */
int whatif_plan_make(struct db *db, const struct whatif_target *target,
                     struct whatif_fix *fix, struct diag *diag);

/* Calls TAKE for the COUNT objects, at most, that stalled the program longest, for LEAST
 * of the run's cycles or more: with the fix of the program that fits their verdict. */
int whatif_each_object(struct db *db, double least, int count,
                       int (*take)(void *context, const char *fix), void *context,
                       struct diag *diag);

#endif
