/* SPDX-License-Identifier: MIT */
/* The measured time of lines, functions and objects: timer samples of a first, unmodified
 * run of the command (record --with-clock), compared with the simulated stalls. */
#ifndef MEMLAG_MEASURED_H
#define MEMLAG_MEASURED_H

#include "db.h"

/* Fills the tables *_clock_finding and clock_agreement_finding if the
 * recording has a first run. Call it after the findings of lines and functions. Shares
 * refer to the first run's CPU time; the timer sees only its user part. Ranges are
 * Wilson's score interval at 95 % (JASA 22, 1927). */
int measured_store(struct db *db, struct diag *diag);

/* Spearman's rank correlation of the COUNT pairs (A, B): Pearson's correlation of their
 * ranks. Equal values share their mean rank. NAN: fewer than three pairs, or all of A or
 * B are equal. */
double measured_rank_correlation(const double *a, const double *b, size_t count);

#endif
