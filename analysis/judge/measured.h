/* SPDX-License-Identifier: MIT */
/* The measured time of lines and functions: the timer samples of a first run of the
 * command as it is (record --with-clock), beside the stalls that the model found. */
#ifndef MEMLAG_MEASURED_H
#define MEMLAG_MEASURED_H

#include "db.h"

/* Fills line_clock_finding, function_clock_finding and clock_agreement_finding, where the
 * recording has a first run. The findings of lines and functions are there. A share is of
 * the first run's CPU time, of which the timer sees the user's part; its range is
 * Wilson's score interval at 95 % (JASA 22, 1927). */
int measured_store(struct db *db, struct diag *diag);

/* Spearman's rank correlation of the COUNT pairs (A, B): Pearson's of their ranks, of
 * which equal values share the mean. NAN: fewer than three pairs, or all of A or B are
 * equal. */
double measured_rank_correlation(const double *a, const double *b, size_t count);

#endif
