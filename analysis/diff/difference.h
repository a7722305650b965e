/* SPDX-License-Identifier: MIT */
/* Estimates of samples with their 95 % intervals, and what two recordings' differ by.
 * Pure arithmetic. */
#ifndef MEMLAG_DIFFERENCE_H
#define MEMLAG_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* An amount (cycles or ns of the run) with its 95 % interval of confidence. */
struct estimate {
        double value;
        double low;
        double high;
};

/* The same DIVISOR times smaller. */
void estimate_divide(struct estimate *estimate, double divisor);

enum change { CHANGE_BETTER, CHANGE_WORSE, CHANGE_NOT_TOLD };

/* VALUE, LOW and HIGH times SCALE; false when they cannot be an estimate, as in a damaged
 * file. */
bool estimate_scaled(double value, double low, double high, double scale,
                     struct estimate *estimate);

/* The part RATIO of TOTAL, when LOW to HIGH is its range as of tally_stalled (tally.h): a
 * score interval that is cut at 1, which goes on here to where it ended, as no difference
 * follows from an interval that is cut. False as above. */
bool estimate_of_ratio(double ratio, double low, double high, double total,
                       struct estimate *estimate);

/* The part SHARE of TOTAL, of which a sample of loads told TOTAL too, when LOW to HIGH is
 * the share's score interval (tally.h): of that follows the number of samples that know
 * the share as well, and of the part's number of these the score interval of a Poisson
 * count. False as above. */
bool estimate_of_share(double share, double low, double high, double total,
                       struct estimate *estimate);

/* What an event of ESTIMATE amounts to, when it is a count of equal ones: its variance
 * over its value. */
double estimate_event(const struct estimate *estimate);

/* Of no event, where they amount to EVENT. */
struct estimate estimate_of_none(double event);

/* Adds PART, of other samples, to SUM. */
void estimate_add(struct estimate *sum, const struct estimate *part);

/* AFTER less BEFORE, of samples that know nothing of each other: by the square-and-add
 * rule for two intervals (G. Zou and A. Donner, Statistics in Medicine 27, 2008; R.
 * Newcombe, Statistics in Medicine 17, 1998). */
struct estimate estimate_difference(const struct estimate *before,
                                    const struct estimate *after);

/* DIFFERENCE of two means, which is made wide enough for what the recordings of a side
 * differed by among themselves: Welch's interval (Biometrika 34, 1947). BEFORE_VARIANCE
 * and AFTER_VARIANCE are those of the means of so many recordings; of less than two
 * nothing is known. */
struct estimate estimate_widened(const struct estimate *difference,
                                 double before_variance, size_t before_count,
                                 double after_variance, size_t after_count);

/* How many times as wide 95 % ranges are that hold with 95 % for COUNT differences
 * together (Bonferroni). */
double estimate_widening(size_t count);

/* Makes DIFFERENCE's range so many TIMES as wide on both sides of its value. */
void estimate_widen(struct estimate *difference, double times);

/* What DIFFERENCE of a cost says: less of it is better. */
enum change change_of(const struct estimate *difference);

/* "better", "worse", "no-difference" (that the samples could tell). */
const char *change_name(enum change change);

#endif
