/* SPDX-License-Identifier: MIT */
/* Which verdicts a recording cannot give for each thing that it lacks (doc/method.md). */
#include "gaps.h"
#include "unit_test.h"

static struct recorded everything(void)
{
        struct recorded recorded = {.memory_samples = true,
                                    .levels = true,
                                    .latencies = true,
                                    .tlb = true,
                                    .snoops = true};
        for (int i = 0; i < CONCEPT_COUNT; i++)
                recorded.counted[i] = true;
        return recorded;
}

/* The verdicts of the only gap, or "" without one. */
static const char *only_gap(const struct recorded *recorded)
{
        const char *gaps[VERDICT_GAPS_MAX];
        size_t count = verdict_gaps(recorded, gaps);
        assert_true(count <= 1);
        return count ? gaps[0] : "";
}

static void expect(const struct recorded *recorded, const char *verdicts)
{
        const char *gap = only_gap(recorded);
        assert_int_equal(strncmp(gap, verdicts, strlen(verdicts)), 0);
        assert_int_equal(gap[strlen(verdicts)], ':');
}

TEST(nothing_is_missing)
{
        struct recorded recorded = everything();
        assert_string_equal(only_gap(&recorded), "");
}

TEST(either_form_of_the_loads_will_do)
{
        struct recorded recorded = everything();
        recorded.counted[CONCEPT_L1_MISS_ANY] = false;
        assert_string_equal(only_gap(&recorded), "");
        recorded.counted[CONCEPT_FB_HIT] = false;
        expect(&recorded, "dram-contention");
        recorded.counted[CONCEPT_L1_MISS_ANY] = true;
        assert_string_equal(only_gap(&recorded), "");
        recorded.counted[CONCEPT_PENDING] = false;
        expect(&recorded, "dram-contention");
}

TEST(each_lack_costs_its_verdicts)
{
        struct recorded recorded;
#define EXPECT_WITHOUT(member, verdicts)                                                 \
        recorded = everything();                                                         \
        recorded.member = false;                                                         \
        expect(&recorded, verdicts)
        EXPECT_WITHOUT(counted[CONCEPT_FB_FULL], "in-core");
        EXPECT_WITHOUT(levels, "dram-latency, remote-memory and cache");
        EXPECT_WITHOUT(tlb, "tlb");
        EXPECT_WITHOUT(snoops, "sharing");
        EXPECT_WITHOUT(latencies, "any");
        EXPECT_WITHOUT(memory_samples, "any");
}

TEST(caches_only_tell_nothing_of_overlap)
{
        struct recorded recorded = everything();
        recorded.without_waits = true;
        expect(&recorded, "dram-contention and in-core");
}

TEST(all_gaps_fit)
{
        const char *gaps[VERDICT_GAPS_MAX];
        struct recorded recorded = {.memory_samples = true};
        assert_true(verdict_gaps(&recorded, gaps) <= VERDICT_GAPS_MAX);
}
