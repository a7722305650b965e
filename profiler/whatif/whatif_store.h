/* SPDX-License-Identifier: MIT */
/* Reads whatif's databases, and writes results to the first. */
#ifndef MEMLAG_WHATIF_STORE_H
#define MEMLAG_WHATIF_STORE_H

#include "db.h"
#include "whatif_run.h"

/* Adds RUN, whose database is complete, to the baseline DB. -ECANCELED: the command
 * ended differently from the baseline. */
int whatif_store(struct db *db, const struct whatif_run *run, struct diag *diag);

/* The part of the run's cycles that FIX gained, or where it has not run, is estimated to;
 * 0: hardly any. */
double whatif_recorded_gain(struct db *db, const char *fix);
double whatif_estimated_gain(struct db *db, const char *fix);

/* Calls TAKE for each fix of the machine with an estimated gain of at least LEAST of the
 * run's cycles, the largest gain first, until TAKE returns an error. */
int whatif_each_estimate(struct db *db, double least,
                         int (*take)(void *context, const char *fix), void *context,
                         struct diag *diag);

/* Does the same for the COUNT lines of code, at most, that would gain most if their data
 * arrived without delay: fixes of the program, by their names. */
int whatif_each_line(struct db *db, double least, int count,
                     int (*take)(void *context, const char *fix), void *context,
                     struct diag *diag);

/* Adds to FIX the sampled instructions of LINE of FILE in the baseline. -ENOENT: it has
 * none. */
int whatif_find_line(struct db *db, const char *file, int64_t line,
                     struct whatif_fix *fix, struct diag *diag);

#endif
