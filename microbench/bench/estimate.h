/* SPDX-License-Identifier: MIT */
/* Statistics of a series of timings. Noise only adds time (B20): the lower quartile
 * estimates the undisturbed time. Its confidence interval uses order statistics, without
 * assuming a distribution. Pure functions. */
#ifndef MEMLAG_ESTIMATE_H
#define MEMLAG_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct estimate {
        double value;
        double low, high; /* 95 % confidence; the extremes if rounds are few */
        double least;
        size_t rounds;
};

/* Estimates COUNT > 0 values; sorts them. */
struct estimate estimate_of(double *values, size_t count);

void estimate_sort(double *values, size_t count); /* ascending */

/* Half the confidence interval over the value: 0.02 is 2 %. NAN with fewer than three
 * values. */
double estimate_error(const struct estimate *estimate);

/* Known disturbances of a timing: none, other work on the machine, or other work on the
 * same CPU. */
enum disturbance { UNDISTURBED, SHARED, INTERRUPTED, DISTURBANCES };

enum { SERIES_MAX = 256 };

/* Timings of one quantity. Disturbed timings count only if there are too few others. */
struct series {
        double values[DISTURBANCES][SERIES_MAX];
        size_t counts[DISTURBANCES];
};

/* Adds VALUE; drops it if the series is full. */
void series_add(struct series *series, double value, enum disturbance disturbance);

/* Adds all timings of MORE. */
void series_join(struct series *series, const struct series *more);

/* The number of all timings. */
size_t series_count(const struct series *series);

/* The disturbance of the most disturbed timings that count; SERIES is not empty. */
enum disturbance series_disturbance(const struct series *series);

/* Whether SERIES is useless: fewer than three timings, all interrupted. */
bool series_is_worthless(const struct series *series);

/* Estimates the timings that count; NAN without any. */
struct estimate series_estimate(const struct series *series);

/* LOW and HIGH enclose the middle PART of the timings that count. Returns the number of
 * these timings; LOW and HIGH are NAN without any. */
size_t series_range(const struct series *series, double part, double *low, double *high);

#endif
