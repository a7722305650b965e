/* SPDX-License-Identifier: MIT */
/* Statistics of a series of timings. */
#include "estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double QUANTILE = 0.1;
static const double TAIL = 0.025; /* on each side of a 95 % interval */

enum { ENOUGH = 5, ERROR_ROUNDS_MIN = 3 };

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

void estimate_sort(double *values, size_t count)
{
        qsort(values, count, sizeof(*values), compare);
}

/* The probability that exactly K of N values lie below the quantile. */
static double binomial(size_t n, size_t k)
{
        double log_ways =
            lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
        return exp(log_ways + (double)k * log(QUANTILE) +
                   (double)(n - k) * log(1 - QUANTILE));
}

/* Sorts VALUES; NAN without any. */
static double quantile_of(double *values, size_t count)
{
        estimate_sort(values, count);
        return count > 0 ? values[(size_t)(QUANTILE * (double)(count - 1) + 0.5)] : NAN;
}

struct estimate estimate_of(double *values, size_t count)
{
        size_t low = 0, high = count - 1;
        double below = 0;
        double early = quantile_of(values, count / 2);
        double late = quantile_of(values + count / 2, count - count / 2);
        estimate_sort(values, count);
        /* The quantile is above values[k] if at least k + 1 values are below it. */
        for (size_t k = 0; k < count; k++) {
                below += binomial(count, k);
                if (below <= TAIL)
                        low = k;
                if (below >= 1 - TAIL) {
                        high = k;
                        break;
                }
        }
        return (struct estimate){
            .value = quantile_of(values, count),
            .early = early,
            .late = late,
            .low = values[low],
            .high = values[high],
            .rounds = count,
        };
}

double estimate_error(const struct estimate *estimate)
{
        if (estimate->rounds < ERROR_ROUNDS_MIN)
                return NAN;
        return (estimate->high - estimate->low) / 2 / estimate->value;
}

struct estimate estimate_sum(const struct estimate *a, double factor,
                             const struct estimate *b)
{
        bool less = factor < 0;
        return (struct estimate){
            .value = a->value + factor * b->value,
            .low = a->low + factor * (less ? b->high : b->low),
            .high = a->high + factor * (less ? b->low : b->high),
            .early = a->early + factor * b->early,
            .late = a->late + factor * b->late,
            .rounds = a->rounds < b->rounds ? a->rounds : b->rounds,
            .disturbance =
                a->disturbance > b->disturbance ? a->disturbance : b->disturbance,
        };
}

struct estimate estimate_times(double factor, const struct estimate *a)
{
        struct estimate none = {.rounds = a->rounds};
        return estimate_sum(&none, factor, a);
}

struct estimate estimate_quotient(const struct estimate *a, const struct estimate *b)
{
        return (struct estimate){
            .value = a->value / b->value,
            .low = a->low / b->high,
            .high = a->high / b->low,
            .early = a->early / b->early,
            .late = a->late / b->late,
            .rounds = a->rounds < b->rounds ? a->rounds : b->rounds,
            .disturbance =
                a->disturbance > b->disturbance ? a->disturbance : b->disturbance,
        };
}

struct estimate estimate_inverse(const struct estimate *a)
{
        const struct estimate one = {1, 1, 1, 1, 1, SERIES_MAX, UNDISTURBED};
        return estimate_quotient(&one, a);
}

double estimate_drift(const struct estimate *estimate)
{
        return estimate->rounds < DRIFT_ROUNDS_MIN
                   ? NAN
                   : fabs((estimate->late - estimate->early) / estimate->value);
}

double estimate_part(const struct estimate *estimate, enum part part)
{
        return part == EARLY  ? estimate->early
               : part == LATE ? estimate->late
                              : estimate->value;
}

struct estimate estimate_of_parts(const double values[PARTS])
{
        bool halves = !isnan(values[EARLY]) && !isnan(values[LATE]);
        return (struct estimate){.value = values[WHOLE],
                                 .low = fmin(values[EARLY], values[LATE]),
                                 .high = fmax(values[EARLY], values[LATE]),
                                 .early = values[EARLY],
                                 .late = values[LATE],
                                 .rounds = halves ? SERIES_MAX : 1};
}

double estimate_whole(double value)
{
        return round(0.97 * value) >= 0.9 * round(1.03 * value) ? round(value) : NAN;
}

/* ---- series ---- */

void series_add(struct series *series, double value, enum disturbance disturbance)
{
        if (series->count >= SERIES_MAX)
                return;
        series->values[series->count] = value;
        series->disturbances[series->count++] = disturbance;
}

static enum disturbance worst_that_counts(const struct series *series)
{
        size_t counts[DISTURBANCES] = {0}, count = 0;
        enum disturbance worst = UNDISTURBED;
        for (size_t i = 0; i < series->count; i++)
                counts[series->disturbances[i]]++;
        for (size_t i = 0; i < DISTURBANCES && count < ENOUGH; i++) {
                count += counts[i];
                if (counts[i] > 0)
                        worst = (enum disturbance)i;
        }
        return worst;
}

/* Copies the timings that count to VALUES; returns their number. */
static size_t values_that_count(const struct series *series, double *values)
{
        enum disturbance most = worst_that_counts(series);
        size_t count = 0;
        for (size_t i = 0; i < series->count; i++)
                if (series->disturbances[i] <= most)
                        values[count++] = series->values[i];
        return count;
}

struct estimate series_estimate(const struct series *series)
{
        double values[SERIES_MAX];
        size_t count = values_that_count(series, values);
        struct estimate none = {NAN, NAN, NAN, NAN, NAN, 0, UNDISTURBED};
        struct estimate estimate = count > 0 ? estimate_of(values, count) : none;
        estimate.disturbance = worst_that_counts(series);
        return estimate;
}

size_t series_range(const struct series *series, double part, double *low, double *high)
{
        double values[SERIES_MAX];
        size_t count = values_that_count(series, values);
        *low = *high = NAN;
        if (count > 0) {
                size_t beyond = (size_t)((1 - part) / 2 * (double)(count - 1) + 0.5);
                estimate_sort(values, count);
                *low = values[beyond];
                *high = values[count - 1 - beyond];
        }
        return count;
}
