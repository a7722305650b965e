/* SPDX-License-Identifier: MIT */
/* Statistics of a series of timings. */
#include "estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double QUANTILE = 0.25;
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

struct estimate estimate_of(double *values, size_t count)
{
        size_t low = 0, high = count - 1;
        double below = 0;
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
            .value = values[(size_t)(QUANTILE * (double)(count - 1) + 0.5)],
            .low = values[low],
            .high = values[high],
            .least = values[0],
            .rounds = count,
        };
}

double estimate_error(const struct estimate *estimate)
{
        if (estimate->rounds < ERROR_ROUNDS_MIN)
                return NAN;
        return (estimate->high - estimate->low) / 2 / estimate->value;
}

/* ---- series ---- */

void series_add(struct series *series, double value, enum disturbance disturbance)
{
        size_t *count = &series->counts[disturbance];
        if (*count < SERIES_MAX)
                series->values[disturbance][(*count)++] = value;
}

void series_join(struct series *series, const struct series *more)
{
        for (size_t i = 0; i < DISTURBANCES; i++)
                for (size_t k = 0; k < more->counts[i]; k++)
                        series_add(series, more->values[i][k], (enum disturbance)i);
}

size_t series_count(const struct series *series)
{
        size_t count = 0;
        for (size_t i = 0; i < DISTURBANCES; i++)
                count += series->counts[i];
        return count;
}

enum disturbance series_disturbance(const struct series *series)
{
        enum disturbance worst = UNDISTURBED;
        size_t count = 0;
        for (size_t i = 0; i < DISTURBANCES && count < ENOUGH; i++) {
                count += series->counts[i];
                if (series->counts[i] > 0)
                        worst = (enum disturbance)i;
        }
        return worst;
}

bool series_is_worthless(const struct series *series)
{
        return series_count(series) < ERROR_ROUNDS_MIN &&
               series_count(series) == series->counts[INTERRUPTED];
}

/* Copies the timings that count to VALUES; returns their number. */
static size_t values_that_count(const struct series *series, double *values)
{
        size_t count = 0;
        for (size_t i = 0; i < DISTURBANCES && count < ENOUGH; i++) {
                memcpy(values + count, series->values[i],
                       series->counts[i] * sizeof(*values));
                count += series->counts[i];
        }
        return count;
}

struct estimate series_estimate(const struct series *series)
{
        double values[DISTURBANCES * SERIES_MAX];
        size_t count = values_that_count(series, values);
        return count > 0 ? estimate_of(values, count)
                         : (struct estimate){NAN, NAN, NAN, NAN, 0};
}

size_t series_range(const struct series *series, double part, double *low, double *high)
{
        double values[DISTURBANCES * SERIES_MAX];
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
