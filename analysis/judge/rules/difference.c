/* SPDX-License-Identifier: MIT */
/* Confidence intervals of estimates and of their differences. Knows no database. */
#include "difference.h"

#include <math.h>
#include <stddef.h>

/* Two-sided 95 % of the normal distribution. */
static const double z = 1.959964;

bool estimate_scaled(double value, double low, double high, double scale,
                     struct estimate *estimate)
{
        *estimate = (struct estimate){value * scale, fmin(low, value) * scale,
                                      fmax(high, value) * scale};
        return value >= 0 && low >= 0 && scale >= 0 && isfinite(estimate->high);
}

bool estimate_of_ratio(double ratio, double low, double high, double total,
                       struct estimate *estimate)
{
        /* The product of the interval's ends is the square of the value (of_events). */
        double uncut = low > 0 ? ratio * ratio / low : high;
        return estimate_scaled(ratio, low, fmax(high, uncut), total, estimate);
}

/* The score interval of VALUE, a sum of equal events. */
static struct estimate of_events(double value, double event)
{
        double high = value + z * z * event / 2 +
                      z * sqrt(event * value + z * z * event * event / 4);
        return (struct estimate){
            .value = value, .low = high > 0 ? value * value / high : 0, .high = high};
}

bool estimate_of_share(double share, double low, double high, double total,
                       struct estimate *estimate)
{
        if (!estimate_scaled(share, low, high, total, estimate) || !(share > 0))
                return share == 0 && isfinite(estimate->high);
        /* The product of Wilson's limits is share^2 / (1 + z^2 / samples). */
        double excess = share * share / (low * high) - 1;
        double samples = excess > 0 ? z * z / excess : 0;
        if (isfinite(samples) && samples > 0)
                *estimate = of_events(share * total, total / samples);
        return true;
}

double estimate_event(const struct estimate *estimate)
{
        return fmax(0, estimate->low + estimate->high - 2 * estimate->value) / (z * z);
}

struct estimate estimate_of_none(double event)
{
        return of_events(0, event);
}

void estimate_add(struct estimate *sum, const struct estimate *part)
{
        double below = hypot(sum->value - sum->low, part->value - part->low);
        double above = hypot(sum->high - sum->value, part->high - part->value);
        sum->value += part->value;
        sum->low = fmax(0, sum->value - below);
        sum->high = sum->value + above;
}

struct estimate estimate_difference(const struct estimate *before,
                                    const struct estimate *after)
{
        double value = after->value - before->value;
        return (struct estimate){
            .value = value,
            .low = value - hypot(after->value - after->low, before->high - before->value),
            .high =
                value + hypot(after->high - after->value, before->value - before->low)};
}

void estimate_divide(struct estimate *estimate, double divisor)
{
        estimate->value /= divisor;
        estimate->low /= divisor;
        estimate->high /= divisor;
}

/* Student's t, exceeded with probability 2.5 %, for FREEDOM degrees, rounded down. */
static double student(double freedom)
{
        static const double table[] = {
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
            2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
            2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
        enum { ROWS = sizeof(table) / sizeof(table[0]) };
        return table[freedom < 1 ? 0 : freedom < ROWS ? (size_t)freedom - 1 : ROWS - 1];
}

struct estimate estimate_widened(const struct estimate *difference,
                                 double before_variance, size_t before_count,
                                 double after_variance, size_t after_count)
{
        struct estimate wide = *difference;
        double variance = before_variance + after_variance;
        if (before_count < 2 || after_count < 2 || !(variance > 0))
                return wide;
        double freedom = variance * variance /
                         (before_variance * before_variance / (double)(before_count - 1) +
                          after_variance * after_variance / (double)(after_count - 1));
        double half = student(freedom) * sqrt(variance);
        wide.low = fmin(wide.low, wide.value - half);
        wide.high = fmax(wide.high, wide.value + half);
        return wide;
}

/* The upper tail probability of the normal distribution at X. */
static double above(double x)
{
        return erfc(x / sqrt(2)) / 2;
}

double estimate_widening(size_t count)
{
        double tail = above(z) / (double)(count ? count : 1);
        double low = z, high = 40;
        for (int i = 0; i < 60; i++) {
                double middle = (low + high) / 2;
                if (above(middle) > tail)
                        low = middle;
                else
                        high = middle;
        }
        return low / z;
}

void estimate_widen(struct estimate *difference, double times)
{
        difference->low =
            difference->value - times * (difference->value - difference->low);
        difference->high =
            difference->value + times * (difference->high - difference->value);
}

enum change change_of(const struct estimate *difference)
{
        if (difference->high < 0)
                return CHANGE_BETTER;
        return difference->low > 0 ? CHANGE_WORSE : CHANGE_NOT_TOLD;
}

const char *change_name(enum change change)
{
        static const char *const names[] = {[CHANGE_BETTER] = "better",
                                            [CHANGE_WORSE] = "worse",
                                            [CHANGE_NOT_TOLD] = "no-difference"};
        return names[change];
}
