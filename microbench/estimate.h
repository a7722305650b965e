/* SPDX-License-Identifier: MIT */
/* What a series of timings says. Noise only ever adds time (B20), so the lower quartile
 * stands for the undisturbed time; the confidence interval is that of the quartile, by
 * order statistics, whatever the distribution. Pure functions. */
#ifndef MEMLAG_ESTIMATE_H
#define MEMLAG_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct estimate {
        double value;
        double low, high; /* 95 % confidence; equal to the extremes when rounds are few */
        double least;
        size_t rounds;
};

/* Of the COUNT > 0 values, which are sorted by it. */
struct estimate estimate_of(double *values, size_t count);

void estimate_sort(double *values, size_t count); /* the least first */

/* Half the confidence interval over the value: 0.02 is 2 %. NAN: fewer than three values
 * do not tell. */
double estimate_error(const struct estimate *estimate);

/* What is known to have disturbed a timing: nothing, others at work on the machine, or
 * others on the very CPU. */
enum disturbance { UNDISTURBED, SHARED, INTERRUPTED, DISTURBANCES };

enum { SERIES_MAX = 256 };

/* Timings of one thing. The more disturbed ones count only when there are too few of the
 * others. */
struct series {
        double values[DISTURBANCES][SERIES_MAX];
        size_t counts[DISTURBANCES];
};

/* Adds VALUE; what is beyond the room is left out. */
void series_add(struct series *series, double value, enum disturbance disturbance);

/* Adds all of MORE. */
void series_join(struct series *series, const struct series *more);

/* Of all timings. */
size_t series_count(const struct series *series);

/* That of the most disturbed timings that count; SERIES is not empty. */
enum disturbance series_disturbance(const struct series *series);

/* Whether SERIES tells nothing: fewer than three timings, and all of them interrupted. */
bool series_is_worthless(const struct series *series);

/* Of the timings that count; NAN where there are none. */
struct estimate series_estimate(const struct series *series);

/* Between LOW and HIGH lies this PART of the timings that count, in their middle. Returns
 * how many count; NAN where there are none. */
size_t series_range(const struct series *series, double part, double *low, double *high);

#endif
