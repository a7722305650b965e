/* SPDX-License-Identifier: MIT */
/* The longest samples of a place, and how much of each counts where sums of latency
 * judge. A sample stands for as many loads as any other, however rare loads like it were:
 * one that is longer than thousands together would decide alone. So none counts for more
 * than a tenth of the sum, and a cause needs five samples to have half of it: as many as
 * tell an origin. (Longer ones count as that tenth: winsorised, Kokic and Bell, Optimal
 * Winsorizing Cutoffs for a Stratified Finite Population Estimator, Journal of Official
 * Statistics 10, 1994.) Knows nothing of what is judged. */
#ifndef MEMLAG_LONGEST_H
#define MEMLAG_LONGEST_H

#include <stdint.h>

/* Only so many samples can be more than a tenth of a sum that they are cut to. */
enum { LONGEST_PARTS = 10, LONGEST_COUNT = LONGEST_PARTS - 1 };

struct longest {
        double cycles[LONGEST_COUNT]; /* descending; 0: there is none */
        unsigned char label[LONGEST_COUNT];
};

/* A sample of CYCLES, 0 or more (of 0 there is nothing to keep), with a label by which
 * the caller knows what it is of. */
void longest_add(struct longest *longest, double cycles, unsigned char label);

/* The cycles for which a sample counts at most, of SAMPLES whose sum is CYCLES: a tenth
 * of what the sum is when each counts for no more. Fewer than ten samples count alike, as
 * the shortest of them that is more than 0; 0: none is. */
double longest_limit(const struct longest *longest, int64_t samples, double cycles);

#endif
