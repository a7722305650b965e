/* SPDX-License-Identifier: MIT */
/* Intervals of estimates and of differences, against published values, and how often they
 * contain the true value. */
#include "difference.h"
#include "tally.h"
#include "unit_test.h"

static struct estimate exactly(double value, double low, double high)
{
        return (struct estimate){value, low, high};
}

static void near(double is, double must_be)
{
        assert_true(fabs(is - must_be) < 0.01);
}

/* The score interval of a Poisson count of 10 is 5.43 to 18.41, of 0 it is 0 to 3.84. */
TEST(ten_events_of_many)
{
        struct tally part = {.samples = 10, .cost = 10, .cost_squared = 10};
        struct tally whole = {.samples = 1000, .cost = 1000, .cost_squared = 1000};
        struct share share = cost_share(&part, &whole);
        struct estimate estimate;
        assert_true(
            estimate_of_share(share.value, share.low, share.high, 1000, &estimate));
        near(estimate.value, 10);
        near(estimate.low, 5.43);
        near(estimate.high, 18.41);
        near(estimate_event(&estimate), 1);
        near(estimate_of_none(1).low, 0);
        near(estimate_of_none(1).high, 3.84);
}

/* All samples of a recording are as uncertain as their number. */
TEST(all_of_a_hundred)
{
        struct tally whole = {.samples = 100, .cost = 100, .cost_squared = 100};
        struct share share = cost_share(&whole, &whole);
        struct estimate estimate;
        assert_true(
            estimate_of_share(share.value, share.low, share.high, 100, &estimate));
        near(estimate.low, 82.22);
        near(estimate.high, 121.62);
}

TEST(half_widths_add_as_squares)
{
        struct estimate before = exactly(30, 26, 33), after = exactly(20, 17, 24);
        struct estimate difference = estimate_difference(&before, &after);
        near(difference.value, -10);
        near(difference.low, -10 - hypot(3, 3));
        near(difference.high, -10 + hypot(4, 4));
        assert_int_equal(change_of(&difference), CHANGE_BETTER);
        difference = estimate_difference(&after, &before);
        assert_int_equal(change_of(&difference), CHANGE_WORSE);
        difference = estimate_difference(&after, &after);
        near(difference.value, 0);
        assert_int_equal(change_of(&difference), CHANGE_NOT_TOLD);
        estimate_add(&before, &after);
        near(before.value, 50);
        near(before.low, 45);
        near(before.high, 55);
}

TEST(damaged_figures_are_refused)
{
        struct estimate estimate;
        assert_false(estimate_scaled(NAN, 0, 0, 1, &estimate));
        assert_false(estimate_scaled(-1, -2, 0, 1, &estimate));
        assert_false(estimate_scaled(1, 1, 1e308, 1e308, &estimate));
        assert_false(estimate_of_share(0.5, NAN, INFINITY, 1, &estimate));
        assert_true(estimate_of_share(0.5, 0, 1, 10, &estimate));
        assert_false(estimate_of_ratio(1, 1e-320, 1, 1, &estimate));
        assert_false(estimate_of_ratio(0.5, -1, NAN, 1, &estimate));
        assert_true(estimate_scaled(2, 3, 1, 1, &estimate));
        assert_true(estimate.low <= 2 && estimate.high >= 2);
}

/* A random Poisson number, by Knuth's algorithm. */
static int poisson(unsigned short seed[3], double mean)
{
        double limit = exp(-mean), product = erand48(seed);
        int count = 0;
        for (; product > limit; count++)
                product *= erand48(seed);
        return count;
}

static struct estimate of_count(int count)
{
        struct tally part = {.cost = count, .cost_squared = count};
        struct tally whole = {.cost = 100000, .cost_squared = 100000};
        struct share share = cost_share(&part, &whole);
        struct estimate estimate;
        assert_true(
            estimate_of_share(share.value, share.low, share.high, 100000, &estimate));
        return count ? estimate : estimate_of_none(1);
}

/* Without a change one row in twenty seems to differ; with a faster program more do. */
TEST(chance_differs_as_often_as_it_may)
{
        unsigned short seed[3] = {1, 2, 3};
        enum { PAIRS = 20000 };
        for (double mean = 1; mean <= 200; mean *= 3) {
                int differ = 0, better = 0;
                for (int i = 0; i < PAIRS; i++) {
                        struct estimate before = of_count(poisson(seed, mean));
                        struct estimate after = of_count(poisson(seed, mean));
                        struct estimate half = of_count(poisson(seed, mean / 2));
                        struct estimate same = estimate_difference(&before, &after);
                        struct estimate halved = estimate_difference(&before, &half);
                        differ += change_of(&same) != CHANGE_NOT_TOLD;
                        better += change_of(&halved) == CHANGE_BETTER;
                }
                assert_true(differ <= PAIRS * 0.055);
                if (mean >= 9)
                        assert_true(differ >= PAIRS * 0.035);
                if (mean == 81) /* 0.957 of normal ones: 40.5 is 3.67 deviations */
                        assert_true(fabs(better / (double)PAIRS - 0.957) < 0.02);
        }
}

/* The estimate for COUNT equal stalls, if MEAN stalls take RATIO of the run's cycles. */
static struct estimate of_stalls(int count, double mean, double ratio)
{
        struct tally part = {.retirements = 1000000,
                             .retire_cycles = count * 100.0,
                             .retire_squared = count * 100.0 * 100};
        struct share share = tally_stalled(&part, &part, 1e6, ratio / (mean * 100));
        struct estimate estimate;
        assert_true(
            estimate_of_ratio(share.value, share.low, share.high, 1e8, &estimate));
        return estimate;
}

/* The same test for a program that mostly waits. */
TEST(nearly_all_cycles_differ_as_often_as_they_may)
{
        unsigned short seed[3] = {7, 8, 9};
        enum { PAIRS = 20000 };
        for (double mean = 20; mean <= 320; mean *= 4)
                for (double ratio = 0.8; ratio < 1; ratio += 0.07) {
                        int differ = 0;
                        double event = 0;
                        for (int i = 0; i < PAIRS; i++) {
                                struct estimate before =
                                    of_stalls(poisson(seed, mean), mean, ratio);
                                struct estimate after =
                                    of_stalls(poisson(seed, mean), mean, ratio);
                                struct estimate same =
                                    estimate_difference(&before, &after);
                                differ += change_of(&same) != CHANGE_NOT_TOLD;
                                event += estimate_event(&before) / PAIRS;
                        }
                        assert_true(differ <= PAIRS * 0.055);
                        assert_true(differ >= PAIRS * 0.035);
                        /* The cycles of one stall. */
                        assert_true(fabs(event / (1e8 * ratio / mean) - 1) < 0.01);
                }
}

/* An approximately normal random number. */
static double normal(unsigned short seed[3])
{
        double sum = -6;
        for (int i = 0; i < 12; i++)
                sum += erand48(seed);
        return sum;
}

/* The mean of COUNT values around 0, and its variance estimated from the values. */
static double mean_of(unsigned short seed[3], int count, double deviation,
                      double *variance)
{
        double sum = 0, squares = 0;
        for (int i = 0; i < count; i++) {
                double value = deviation * normal(seed);
                sum += value;
                squares += value * value;
        }
        *variance = (squares - sum * sum / count) / (count - 1) / count;
        return sum / count;
}

/* 2.306 is Student's t of 8 degrees of freedom. */
TEST(means_of_five_recordings_each)
{
        struct estimate difference = exactly(-10, -10.5, -9.5);
        struct estimate wide = estimate_widened(&difference, 0.2, 5, 0.2, 5);
        near(wide.low, -10 - 2.306 * sqrt(0.4));
        near(wide.high, -10 + 2.306 * sqrt(0.4));
        /* The range from samples stays if it is wider, or with a single recording. */
        wide = estimate_widened(&difference, 0.001, 5, 0.001, 5);
        near(wide.low, -10.5);
        wide = estimate_widened(&difference, 0.2, 1, 0.2, 5);
        near(wide.high, -9.5);
}

/* Runs that differ much, on one side more than on the other, while samples do not. */
TEST(runs_that_differ_are_no_change)
{
        unsigned short seed[3] = {4, 5, 6};
        enum { PAIRS = 20000 };
        for (int count = 2; count <= 8; count += 2) {
                int differ = 0;
                for (int i = 0; i < PAIRS; i++) {
                        double before_variance, after_variance;
                        double before = mean_of(seed, count, 1, &before_variance);
                        double after = mean_of(seed, count, 2, &after_variance);
                        double value = after - before;
                        struct estimate difference = exactly(value, value, value);
                        struct estimate wide =
                            estimate_widened(&difference, before_variance, (size_t)count,
                                             after_variance, (size_t)count);
                        differ += change_of(&wide) != CHANGE_NOT_TOLD;
                }
                assert_true(differ <= PAIRS * 0.055);
                if (count == 8) /* of fewer, whole degrees of freedom are wide */
                        assert_true(differ >= PAIRS * 0.035);
        }
}
