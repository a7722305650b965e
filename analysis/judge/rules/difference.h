/* SPDX-License-Identifier: MIT */
/* Estimates from samples with their 95 % intervals, and differences between two
 * recordings. Pure arithmetic. */
#ifndef MEMLAG_DIFFERENCE_H
#define MEMLAG_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

/* An amount (cycles or ns of the run) with its 95 % confidence interval. */
struct estimate {
        double value;
        double low;
        double high;
};

/* Divides the estimate and its interval by DIVISOR. */
void estimate_divide(struct estimate *estimate, double divisor);

enum change { CHANGE_BETTER, CHANGE_WORSE, CHANGE_NOT_TOLD };

/* Multiplies VALUE, LOW and HIGH by SCALE. Returns false for impossible values, as in a
 * damaged file. */
bool estimate_scaled(double value, double low, double high, double scale,
                     struct estimate *estimate);

/* The amount RATIO of TOTAL; LOW to HIGH is its range from tally_stalled (tally.h). That
 * score interval is cut at 1. This function restores the uncut end, because differences
 * need the full interval. Returns false for impossible values. */
bool estimate_of_ratio(double ratio, double low, double high, double total,
                       struct estimate *estimate);

/* The amount SHARE of TOTAL, where sampled loads estimate TOTAL too; LOW to HIGH is the
 * share's score interval (tally.h). Derives the effective number of samples from the
 * interval. The result is the score interval of a Poisson count with this number. Returns
 * false for impossible values. */
bool estimate_of_share(double share, double low, double high, double total,
                       struct estimate *estimate);

/* The size of an event if ESTIMATE counts equal events: its variance over its value. */
double estimate_event(const struct estimate *estimate);

/* The estimate from zero events of size EVENT. */
struct estimate estimate_of_none(double event);

/* Adds PART, an estimate from independent samples, to SUM. */
void estimate_add(struct estimate *sum, const struct estimate *part);

/* AFTER less BEFORE, for independent samples: the square-and-add rule for two intervals
 * (G. Zou and A. Donner, Statistics in Medicine 27, 2008; R. Newcombe, Statistics in
 * Medicine 17, 1998). */
struct estimate estimate_difference(const struct estimate *before,
                                    const struct estimate *after);

/* Widens the DIFFERENCE of two means to cover the variation between recordings of a side:
 * Welch's interval (Biometrika 34, 1947). BEFORE_VARIANCE and AFTER_VARIANCE are
 * variances of the means. With fewer than two recordings on a side, the variation is
 * unknown. */
struct estimate estimate_widened(const struct estimate *difference,
                                 double before_variance, size_t before_count,
                                 double after_variance, size_t after_count);

/* The factor that widens 95 % ranges until COUNT differences hold jointly with 95 %
 * (Bonferroni). */
double estimate_widening(size_t count);

/* Multiplies both sides of DIFFERENCE's range by TIMES. */
void estimate_widen(struct estimate *difference, double times);

/* The verdict on a DIFFERENCE in cost: lower is better. */
enum change change_of(const struct estimate *difference);

/* "better", "worse", "no-difference" (within the precision of the samples). */
const char *change_name(enum change change);

#endif
