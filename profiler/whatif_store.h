/* SPDX-License-Identifier: MIT */
/* What whatif reads of its databases, and writes to the first. */
#ifndef MEMLAG_WHATIF_STORE_H
#define MEMLAG_WHATIF_STORE_H

#include "db.h"
#include "whatif_run.h"

/* Adds RUN, whose database is complete, to that of the baseline DB. -ECANCELED: the
 * command ended otherwise than in the baseline. */
int whatif_store(struct db *db, const struct whatif_run *run, struct diag *diag);

/* The part of the run's cycles that FIX gained, or where it has not run, is estimated to;
 * 0: hardly any. */
double whatif_recorded_gain(struct db *db, const char *fix);
double whatif_estimated_gain(struct db *db, const char *fix);

/* Calls TAKE for each fix of the machine that is estimated to gain at least LEAST of the
 * run's cycles, the largest gain first, until that returns an error. */
int whatif_each_estimate(struct db *db, double least,
                         int (*take)(void *context, const char *fix), void *context,
                         struct diag *diag);

/* The same for the lines of code that would gain most if their data came in time, COUNT
 * of them at most: fixes of the program, by their names. */
int whatif_each_line(struct db *db, double least, int count,
                     int (*take)(void *context, const char *fix), void *context,
                     struct diag *diag);

/* Adds to FIX the instructions of its line that the baseline has samples of. -ENOENT: it
 * has none. */
int whatif_find_line(struct db *db, struct whatif_fix *fix, struct diag *diag);

#endif
