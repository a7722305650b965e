/* SPDX-License-Identifier: MIT */
/* The longest samples of a place, and a limit on each sample's latency in sums. Samples
 * of rare, very long loads have the same weight as others: one could exceed thousands
 * together. So each sample counts for at most a tenth of the sum. A cause then needs five
 * samples for half of the sum: as many as an origin needs. (Longer samples count as that
 * tenth: winsorised, Kokic and Bell, Optimal Winsorizing Cutoffs for a Stratified Finite
 * Population Estimator, Journal of Official Statistics 10, 1994.) Knows nothing about
 * causes. */
#ifndef MEMLAG_LONGEST_H
#define MEMLAG_LONGEST_H

#include <stdint.h>

/* At most this many samples can exceed a tenth of the sum after the cut. */
enum { LONGEST_PARTS = 10, LONGEST_COUNT = LONGEST_PARTS - 1 };

struct longest {
        double cycles[LONGEST_COUNT]; /* descending; 0: none */
        unsigned char label[LONGEST_COUNT];
};

/* Adds a sample of CYCLES, 0 or more; samples of 0 are not stored. The caller chooses
 * LABEL to recognise the sample's sum. */
void longest_add(struct longest *longest, double cycles, unsigned char label);

/* The limit of a sample in cycles, for SAMPLES with the sum CYCLES: a tenth of the sum
 * after the cut. Fewer than ten samples all count as the shortest sample above 0; 0: none
 * is. */
double longest_limit(const struct longest *longest, int64_t samples, double cycles);

#endif
