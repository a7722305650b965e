/* SPDX-License-Identifier: MIT */
/* See judge.h. doc/memlag-validate.md explains the rules. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

#include "estimate.h"

static const double TOLERANCE = 0.05;
static const double NOTHING = 0.005; /* relative to the expectation */
static const double NOISE_LIMIT = 0.1;

const char *event_verdict_name(enum event_verdict verdict)
{
        static const char *const names[] = {
#define VERDICT_NAME(symbol, name) name,
            EVENT_VERDICTS(VERDICT_NAME)
#undef VERDICT_NAME
        };
        return names[verdict];
}

double judge_median(double *values, size_t count)
{
        if (count == 0)
                return NAN;
        estimate_sort(values, count);
        return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double judge_spread(const double *values, size_t count, double scale)
{
        double median = (values[(count - 1) / 2] + values[count / 2]) / 2;
        double range = values[count - 1] - values[0];
        return range / 2 / fmax(median, scale);
}

static double middle(const struct expectation *expected)
{
        return (expected->low + expected->high) / 2;
}

/* Counted over expected; 1 inside the range. */
static double ratio_of(const struct observation *observation)
{
        const struct expectation *expected = &observation->expected;
        double counted = observation->counted;
        if (counted < expected->low)
                return counted / expected->low;
        return counted > expected->high ? counted / expected->high : 1;
}

static double median_ratio(const struct observation *observations, size_t count,
                           bool prefetchable)
{
        double ratios[TRIAL_COUNT];
        size_t found = 0;
        for (size_t i = 0; i < count && found < TRIAL_COUNT; i++)
                if (observations[i].prefetchable == prefetchable &&
                    observations[i].expected.low > 0)
                        ratios[found++] = ratio_of(&observations[i]);
        return judge_median(ratios, found);
}

static double correlation_of(const struct observation *observations, size_t count)
{
        double sum_x = 0, sum_y = 0, xx = 0, yy = 0, xy = 0, n = (double)count;
        for (size_t i = 0; i < count; i++) {
                sum_x += middle(&observations[i].expected);
                sum_y += observations[i].counted;
        }
        for (size_t i = 0; i < count; i++) {
                double x = middle(&observations[i].expected) - sum_x / n;
                double y = observations[i].counted - sum_y / n;
                xx += x * x;
                yy += y * y;
                xy += x * y;
        }
        return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

struct fault {
        bool low, high;
};

static struct fault fault_of(const struct observation *observation)
{
        const struct expectation *expected = &observation->expected;
        double slack = TOLERANCE * (expected->high > 0 ? 0 : expected->scale);
        double least = expected->low * (1 - TOLERANCE);
        double most = expected->high * (1 + TOLERANCE) + slack;
        return (struct fault){
            .low = expected->low > 0 &&
                   observation->counted<least, .high = observation->counted> most};
}

/* The relative error of an observation with FAULT. */
static double distance_of(const struct observation *observation, struct fault fault)
{
        const struct expectation *expected = &observation->expected;
        if (fault.low)
                return 1 - observation->counted / expected->low;
        return expected->high > 0 ? observation->counted / expected->high - 1
                                  : observation->counted / expected->scale;
}

static const struct observation *worst_of(const struct observation *observations,
                                          size_t count)
{
        const struct observation *worst = NULL;
        double furthest = 0;
        for (size_t i = 0; i < count; i++) {
                struct fault fault = fault_of(&observations[i]);
                if (!fault.low && !fault.high)
                        continue;
                double distance = distance_of(&observations[i], fault);
                if (worst && distance <= furthest)
                        continue;
                worst = &observations[i];
                furthest = distance;
        }
        return worst;
}

/* The numbers of wrong trials, by kind. */
struct faults {
        size_t low, low_prefetched;
        size_t high, high_prefetched;
        size_t high_of_nothing; /* counts where zero is expected */
};

static struct faults faults_of(const struct observation *observations, size_t count)
{
        struct faults faults = {0};
        for (size_t i = 0; i < count; i++) {
                const struct observation *observation = &observations[i];
                struct fault fault = fault_of(observation);
                faults.low += fault.low && !observation->prefetchable;
                faults.low_prefetched += fault.low && observation->prefetchable;
                faults.high += fault.high && !observation->prefetchable;
                faults.high_prefetched += fault.high && observation->prefetchable;
                faults.high_of_nothing += fault.high && observation->expected.high == 0;
        }
        return faults;
}

static bool is_dead(const struct observation *observations, size_t count)
{
        size_t something = 0;
        for (size_t i = 0; i < count; i++) {
                const struct observation *observation = &observations[i];
                if (observation->counted > NOTHING * observation->expected.scale)
                        return false;
                something += observation->expected.low > 0;
        }
        return something > 0;
}

/* A non-zero count with a single true value. */
static bool tells_exactly(const struct expectation *expected)
{
        return expected->low > 0 && expected->low >= expected->high;
}

/* Concepts that prefetchers influence. */
static bool is_of_lines(enum concept concept)
{
        return concept == CONCEPT_L1_MISS || concept == CONCEPT_FB_HIT ||
               concept == CONCEPT_L1_MISS_ANY || concept == CONCEPT_DRAM_READ ||
               concept == CONCEPT_DEMAND_READ || concept == CONCEPT_DEMAND_RFO;
}

static enum event_verdict verdict_of(enum concept concept,
                                     const struct observation *observations, size_t count,
                                     double spread)
{
        struct faults faults = faults_of(observations, count);
        bool must = false, may = false, exactly = false;
        for (size_t i = 0; i < count; i++) {
                const struct expectation *expected = &observations[i].expected;
                must |= expected->low > 0;
                exactly |= tells_exactly(expected);
                may |= expected->high > 0 &&
                       observations[i].counted > NOTHING * expected->scale;
        }
        /* If the event need not count here, other trials show whether it is right. */
        if (!must)
                return faults.high_of_nothing + faults.high + faults.high_prefetched > 0
                           ? EVENT_SOMETHING_ELSE
                       : may ? EVENT_WITHIN_BOUNDS
                             : EVENT_UNKNOWN;
        if (is_dead(observations, count))
                return EVENT_DEAD;
        if (spread > NOISE_LIMIT)
                return EVENT_NOISY;
        size_t low = faults.low + faults.low_prefetched;
        size_t high = faults.high + faults.high_prefetched;
        if (low + high == 0)
                return exactly ? EVENT_EXACT : EVENT_WITHIN_BOUNDS;
        if (!is_of_lines(concept) || faults.high_of_nothing > 0 || faults.low > 0)
                return EVENT_SOMETHING_ELSE;
        if (high == 0)
                return EVENT_MISSES_PREFETCH;
        return low == 0 ? EVENT_COUNTS_PREFETCH : EVENT_SOMETHING_ELSE;
}

struct judgement judge(enum concept concept, const struct observation *observations,
                       size_t count)
{
        struct judgement judgement = {
            .ratio = median_ratio(observations, count, false),
            .prefetched_ratio = median_ratio(observations, count, true),
            .correlation = correlation_of(observations, count),
            .worst = worst_of(observations, count),
        };
        for (size_t i = 0; i < count; i++)
                judgement.spread = fmax(judgement.spread, observations[i].spread);
        judgement.verdict = verdict_of(concept, observations, count, judgement.spread);
        return judgement;
}

bool judge_usable(enum concept concept, enum event_verdict verdict)
{
        /* Lines fetched for any reason include prefetched ones. */
        return verdict == EVENT_EXACT || verdict == EVENT_WITHIN_BOUNDS ||
               verdict == EVENT_UNKNOWN ||
               (concept == CONCEPT_DRAM_READ && verdict == EVENT_COUNTS_PREFETCH);
}

int judge_compare(enum concept concept, const struct judgement *a,
                  const struct judgement *b)
{
        int usable =
            judge_usable(concept, a->verdict) - judge_usable(concept, b->verdict);
        if (usable)
                return usable;
        if (a->verdict != b->verdict)
                return a->verdict < b->verdict ? 1 : -1;
        double far_a = fabs(a->ratio - 1), far_b = fabs(b->ratio - 1);
        return (far_a < far_b) - (far_a > far_b);
}
