/* SPDX-License-Identifier: MIT */
/* The certainty of verdicts, and the rank correlation against published figures. */
#include "certainty.h"
#include "measured.h"
#include "unit_test.h"

/* Loads take half of the cycles, split FIRST : SECOND between DRAM and a cache. */
static struct verdict_facts two_causes(double first, double second, int64_t samples)
{
        struct verdict_facts facts = {
            .latencies = samples,
            .stalls = (double)samples,
            .cost_ratio = 0.5,
            .cycle_ratio = 0.5 / (first + second),
            .fault_ratio = 0,
        };
        facts.cause_latency_cycles[CAUSE_DRAM] = facts.cause_retire_cycles[CAUSE_DRAM] =
            first;
        facts.cause_latency_cycles[CAUSE_CACHE] = facts.cause_retire_cycles[CAUSE_CACHE] =
            second;
        return facts;
}

TEST(the_runner_up_tells_the_margin)
{
        struct verdict_facts facts = two_causes(110, 100, 10000);
        struct certainty certainty = verdict_certainty(&facts);
        /* 1.1 times as much of the second, or as little of the first. */
        assert_true(fabs(certainty.margin - 0.1) < 0.01);
        assert_int_equal(certainty.other, VERDICT_CACHE);
        assert_false(certainty.sure);
        facts = two_causes(140, 100, 10000);
        certainty = verdict_certainty(&facts);
        assert_true(fabs(certainty.margin - 0.4) < 0.01);
        assert_true(certainty.sure);
}

TEST(a_lone_cause_is_sure)
{
        struct verdict_facts facts = two_causes(100, 0, 10000);
        struct certainty certainty = verdict_certainty(&facts);
        assert_true(certainty.sure);
        assert_true(certainty.margin == CERTAINTY_MARGIN_MAX);
        assert_int_equal(certainty.other, VERDICT_COUNT);
}

/* A ratio of 1.4 exceeds the error of a model, but not the error of 20 samples. */
TEST(few_samples_are_less_sure)
{
        struct verdict_facts facts = two_causes(140, 100, 20);
        assert_false(verdict_certainty(&facts).sure);
        /* Only ten of many samples stalled, and these decide. */
        facts = two_causes(100, 0, 10000);
        facts.stalls = 10;
        assert_false(verdict_certainty(&facts).sure);
}

/* Stalls of 0.52 % of the cycles are near 0.5 %, which would be none. */
TEST(stalls_near_the_least_cost_are_near_the_limit)
{
        struct verdict_facts facts = two_causes(100, 0, 10000);
        facts.stalls_known = true;
        facts.cycle_ratio = 0.0052 / 100;
        struct certainty certainty = verdict_certainty(&facts);
        assert_false(certainty.sure);
        assert_int_equal(certainty.other, VERDICT_NONE);
}

TEST(a_cost_near_the_least_is_near_the_limit)
{
        struct verdict_facts facts = two_causes(100, 0, 10000);
        facts.cost_ratio = VERDICT_COST_RATIO_MIN * 1.05;
        struct certainty certainty = verdict_certainty(&facts);
        assert_false(certainty.sure);
        assert_int_equal(certainty.other, VERDICT_NONE);
}

/* Spearman's coefficient of IQ and hours of television, a textbook example: -29/165. */
TEST(ranks_correlate_as_published)
{
        static const double iq[] = {106, 86, 100, 101, 99, 103, 97, 113, 112, 110};
        static const double hours[] = {7, 0, 27, 50, 28, 29, 20, 12, 6, 17};
        assert_true(fabs(measured_rank_correlation(iq, hours, 10) + 29.0 / 165) < 1e-9);
        static const double ties[] = {1, 1, 1};
        assert_true(isnan(measured_rank_correlation(iq, ties, 3)));
        assert_true(isnan(measured_rank_correlation(iq, hours, 2)));
}
