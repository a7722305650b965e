/* SPDX-License-Identifier: MIT */
/* What a series of timings says. Noise only ever adds time (B20), so the lower quartile
 * stands for the undisturbed time; the confidence interval is that of the quartile, by
 * order statistics, whatever the distribution. Pure functions. */
#ifndef MEMLAG_ESTIMATE_H
#define MEMLAG_ESTIMATE_H

#include <stddef.h>

struct estimate {
        double value;
        double low, high; /* 95 % confidence; equal to the extremes when rounds are few */
        size_t rounds;
};

/* Of the COUNT > 0 values, which are sorted by it. */
struct estimate estimate_of(double *values, size_t count);

void estimate_sort(double *values, size_t count); /* the least first */

/* Half the confidence interval over the value: 0.02 is 2 %. */
double estimate_error(const struct estimate *estimate);

#endif
