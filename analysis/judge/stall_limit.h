/* SPDX-License-Identifier: MIT */
/* For how long a sample counts at most where places are put in order by what their loads
 * held up. Each sample stands for as many loads as any other, however rare loads like it
 * were: one that waits for thousands of others, by chance among the samples, would come
 * before all that the run spent its time on. So none counts for more than a twentieth of
 * what all samples together held up then (a verdict needs 20 samples), unless five are as
 * long, as many as tell an origin. Fewer than 20 samples are not cut: each would be more
 * than a twentieth, and nothing tells which of them is an accident. What the run's loads
 * held up in all is summed of the samples as they are. (Winsorised: longest.h has the
 * source.) */
#ifndef MEMLAG_STALL_LIMIT_H
#define MEMLAG_STALL_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"

enum { STALL_LIMIT_PARTS = 20 };

/* In cycles: of samples whose latencies of retirement are SUM together, the COUNT longest
 * of them, in descending order, being LONGEST: STALL_LIMIT_PARTS, or all that are more
 * than 0. */
double stall_limit(const double *longest, size_t count, double sum);

/* Puts that of the memory samples among the thresholds, for STATEMENT_STALL, where any is
 * longer; *CUT gets how many are. */
int stall_limit_store(struct db *db, int64_t *cut, struct diag *diag);

#endif
