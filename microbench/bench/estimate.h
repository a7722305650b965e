/* SPDX-License-Identifier: MIT */
/* Statistics of a series of timings. Noise only adds time (B20): the lowest decile
 * estimates the undisturbed time. Its confidence interval uses order statistics, without
 * assuming a distribution. Pure functions. */
#ifndef MEMLAG_ESTIMATE_H
#define MEMLAG_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

/* Known disturbances of a timing: none, other work on the machine, or other work on the
 * same CPU. */
enum disturbance { UNDISTURBED, SHARED, INTERRUPTED, DISTURBANCES };

/* Of a round that was INTERRUPTED_ITSELF, or ran while the machine was SHARED_THEN. */
static inline enum disturbance disturbance_of(bool interrupted_itself, bool shared_then)
{
        return interrupted_itself ? INTERRUPTED : shared_then ? SHARED : UNDISTURBED;
}

struct estimate {
        double value;
        double low, high;   /* 95 % confidence; the extremes if rounds are few */
        double early, late; /* the same by the first and second half of the rounds */
        size_t rounds;
        enum disturbance disturbance; /* the worst of the rounds that count */
};

/* The value by all rounds, or by half of them. */
enum part { WHOLE, EARLY, LATE, PARTS };
double estimate_part(const struct estimate *estimate, enum part part);

/* A figure that was derived from each part of the rounds of several series. NAN: too few
 * for a half. */
struct estimate estimate_of_parts(const double values[PARTS]);

/* Estimates COUNT > 0 values; sorts them. */
struct estimate estimate_of(double *values, size_t count);

void estimate_sort(double *values, size_t count); /* ascending */

/* Half the confidence interval over the value: 0.02 is 2 %. NAN with fewer than three
 * values. */
double estimate_error(const struct estimate *estimate);

/* FACTOR * A, 1 / A, A + FACTOR * B, and A / B. */
struct estimate estimate_inverse(const struct estimate *a);
struct estimate estimate_times(double factor, const struct estimate *a);
struct estimate estimate_sum(const struct estimate *a, double factor,
                             const struct estimate *b);
struct estimate estimate_quotient(const struct estimate *a, const struct estimate *b);

/* The difference between both halves of the rounds over the value; NAN with fewer rounds
 * than DRIFT_ROUNDS_MIN. */
enum { DRIFT_ROUNDS_MIN = 4 };
double estimate_drift(const struct estimate *estimate);

/* VALUE as a whole number; NAN if it may be another one: three percent more or less make
 * over a tenth. */
double estimate_whole(double value);

enum { SERIES_MAX = 256 };

/* Timings of one quantity, in the order of time. Disturbed timings count only if there
 * are too few others. */
struct series {
        double values[SERIES_MAX];
        enum disturbance disturbances[SERIES_MAX];
        size_t count;
};

/* Adds VALUE; drops it if the series is full. */
void series_add(struct series *series, double value, enum disturbance disturbance);

/* Estimates the timings that count; NAN without any. */
struct estimate series_estimate(const struct series *series);

/* LOW and HIGH enclose the middle PART of the timings that count. Returns the number of
 * these timings; LOW and HIGH are NAN without any. */
size_t series_range(const struct series *series, double part, double *low, double *high);

#endif
