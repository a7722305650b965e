/* SPDX-License-Identifier: MIT */
/* Limits the stall time of one sample when reports rank places by stall time. Each sample
 * stands for equally many loads: one rare sample that waited for thousands of other loads
 * could outrank everything else. So no sample counts for more than a twentieth of all
 * stall time (a verdict needs 20 samples). Exception: five equally long samples, as many
 * as an origin needs. Fewer than 20 samples are not cut: each would exceed a twentieth,
 * and nothing shows which sample is an accident. The run's total stall time uses uncut
 * samples. (Winsorised: longest.h has the source.) */
#ifndef MEMLAG_STALL_LIMIT_H
#define MEMLAG_STALL_LIMIT_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"

enum { STALL_LIMIT_PARTS = 20 };

/* The limit in cycles. SUM: all retire latencies; LONGEST: the COUNT longest in
 * descending order. COUNT is STALL_LIMIT_PARTS, or the number of samples above 0 if
 * smaller. */
double stall_limit(const double *longest, size_t count, double sum);

/* The stalls of the memory samples, in cycles. */
struct stalls {
        double longest[STALL_LIMIT_PARTS]; /* in descending order */
        size_t count;                      /* of longest */
        double sum;                        /* of all stalls */
        size_t cut;                        /* of longest: they count as limit */
        double limit;
};

/* Reads them, without a limit. */
int stalls_read(struct db *db, struct stalls *stalls, struct diag *diag);

/* The sum of all stalls within the limit. */
double stalls_total(const struct stalls *stalls);

/* Sets the limit, and stores it among the thresholds for STATEMENT_STALL, if any sample
 * is longer. */
int stalls_store_limit(struct db *db, struct stalls *stalls, struct diag *diag);

#endif
