/* SPDX-License-Identifier: MIT */
/* Verdicts on counters with known faults, which M17 and B20 found. */
#include "judge.h"
#include "unit_test.h"

enum { LINES = 8192 };

/* A kernel of LINES lines. An event should count EXPECTED and counts COUNTED. */
static struct observation lines(double expected, double counted, bool prefetchable)
{
        return (struct observation){.expected = {expected, expected, LINES},
                                    .prefetchable = prefetchable,
                                    .counted = counted,
                                    .spread = 0.01};
}

static enum event_verdict verdict(enum concept concept, const struct observation *all,
                                  size_t count)
{
        return judge(concept, all, count).verdict;
}

TEST(a_right_counter_is_exact)
{
        const struct observation all[] = {lines(0, 12, false), lines(LINES, 8230, false),
                                          lines(LINES, 8180, true)};
        struct judgement judgement = judge(CONCEPT_DRAM_READ, all, 3);
        assert_int_equal(judgement.verdict, EVENT_EXACT);
        assert_true(judge_usable(CONCEPT_DRAM_READ, judgement.verdict));
        assert_true(fabs(judgement.ratio - 8230.0 / LINES) < 1e-9);
        assert_true(fabs(judgement.prefetched_ratio - 8180.0 / LINES) < 1e-9);
        assert_true(judgement.correlation > 0.99);
}

/* H20: off-core response events omit prefetched lines, despite their names. */
TEST(off_core_responses_miss_prefetches)
{
        const struct observation all[] = {lines(0, 0, false), lines(LINES, 8192, false),
                                          lines(LINES, 1100, true)};
        assert_int_equal(verdict(CONCEPT_DRAM_READ, all, 3), EVENT_MISSES_PREFETCH);
        assert_false(judge_usable(CONCEPT_DRAM_READ, EVENT_MISSES_PREFETCH));
}

/* The memory controller counts adjacent lines; a count of loads must not. */
TEST(prefetched_lines_count_where_all_lines_do)
{
        const struct observation all[] = {lines(0, 0, false), lines(LINES, 16380, false),
                                          lines(LINES, 8200, true)};
        assert_int_equal(verdict(CONCEPT_DRAM_READ, all, 3), EVENT_COUNTS_PREFETCH);
        assert_true(judge_usable(CONCEPT_DRAM_READ, EVENT_COUNTS_PREFETCH));
        assert_int_equal(verdict(CONCEPT_L1_MISS, all, 3), EVENT_COUNTS_PREFETCH);
        assert_false(judge_usable(CONCEPT_L1_MISS, EVENT_COUNTS_PREFETCH));
        assert_int_equal(verdict(CONCEPT_DRAM_WRITE, all, 3), EVENT_SOMETHING_ELSE);
}

/* The median is right, and one kernel is not. */
TEST(the_kernel_that_is_furthest_off_is_told)
{
        struct observation all[] = {lines(0, 12, false), lines(LINES, 8230, false),
                                    lines(LINES, 8180, false), lines(LINES, 10240, false),
                                    lines(LINES, 7000, true)};
        assert_null(judge(CONCEPT_STALLS, all, 3).worst);
        assert_ptr_equal(judge(CONCEPT_STALLS, all, 5).worst, &all[3]);
        all[4].counted = 2000;
        assert_ptr_equal(judge(CONCEPT_STALLS, all, 5).worst, &all[4]);
        all[0].counted = LINES;
        assert_ptr_equal(judge(CONCEPT_STALLS, all, 5).worst, &all[0]);
}

/* Half of the true count may lie within the bounds from chases and memread. */
TEST(only_a_truth_that_is_one_number_makes_exact)
{
        struct observation all[] = {lines(0, 0, false), lines(0, 2000, true)};
        all[1].expected = (struct expectation){0.1 * LINES, 2.0 * LINES, LINES};
        struct judgement judgement = judge(CONCEPT_FB_FULL, all, 2);
        assert_int_equal(judgement.verdict, EVENT_WITHIN_BOUNDS);
        assert_string_equal(event_verdict_name(judgement.verdict), "within bounds");
        assert_true(judge_usable(CONCEPT_FB_FULL, judgement.verdict));
        all[1].counted = 4 * LINES;
        assert_int_equal(verdict(CONCEPT_FB_FULL, all, 2), EVENT_SOMETHING_ELSE);
        /* One exact truth is enough, beside bounds for another kernel. */
        const struct observation misses[] = {
            lines(LINES, 8190, false),
            {.expected = {0, LINES, LINES}, .prefetchable = true, .counted = 700}};
        struct judgement exact = judge(CONCEPT_L1_MISS, misses, 2);
        assert_int_equal(exact.verdict, EVENT_EXACT);
        assert_true(judge_compare(CONCEPT_L1_MISS, &exact, &judgement) > 0);
}

TEST(a_counter_that_stands_still_is_dead)
{
        const struct observation all[] = {lines(0, 0, false), lines(LINES, 3, false)};
        assert_int_equal(verdict(CONCEPT_L1_MISS, all, 2), EVENT_DEAD);
        assert_int_equal(verdict(CONCEPT_L1_MISS, all, 1), EVENT_UNKNOWN);
}

TEST(what_counts_where_nothing_is_counts_something_else)
{
        const struct observation all[] = {lines(0, 2000, false),
                                          lines(LINES, 8192, false)};
        assert_int_equal(verdict(CONCEPT_L1_MISS, all, 2), EVENT_SOMETHING_ELSE);
}

TEST(a_counter_that_does_not_repeat_is_noisy)
{
        struct observation all[] = {lines(0, 0, false), lines(LINES, 8192, false)};
        all[1].spread = 0.3;
        assert_int_equal(verdict(CONCEPT_DRAM_READ, all, 2), EVENT_NOISY);
        double values[] = {90, 100, 110};
        assert_true(fabs(judge_spread(values, 3, 100) - 0.1) < 1e-9);
        /* A count near zero may vary. */
        double small[] = {0, 1, 2};
        assert_true(fabs(judge_spread(small, 3, 1000) - 0.001) < 1e-9);
}

/* ---- M17's three chases ---- */

/* Cycles of a step: a memory access takes 250, a multiplication 3. STALLS_L1D_PENDING
 * counts as the paper expects; STALLS_LDM_PENDING also counts the waits between
 * dependent multiplications. */
enum { LATENCY = 250, MULTIPLICATIONS = 24 };

static struct judgement judge_stalls(double plain, double independent, double dependent)
{
        static const struct trial_sizes sizes = {32 << 10, 1 << 20, 4 << 20, 64 << 20};
        const double counted[] = {plain, independent, dependent};
        const double cycles[] = {LATENCY, LATENCY, LATENCY + 3 * MULTIPLICATIONS};
        static const enum trial_id ids[] = {TRIAL_MEMORY, TRIAL_INDEPENDENT,
                                            TRIAL_DEPENDENT};
        struct observation all[3];
        for (size_t i = 0; i < 3; i++) {
                struct trial trial = trial_of(ids[i], &sizes);
                double steps = (double)trial.counts.accesses;
                all[i] = (struct observation){
                    .expected = trial_expects(&trial, CONCEPT_MEMORY_STALLS,
                                              cycles[i] * steps, LATENCY),
                    .counted = counted[i] * steps,
                    .spread = 0.01};
        }
        return judge(CONCEPT_MEMORY_STALLS, all, 3);
}

TEST(stalls_with_a_miss_pending_are_told_from_others)
{
        struct judgement right =
            judge_stalls(LATENCY - 4, LATENCY - MULTIPLICATIONS - 4, LATENCY - 4);
        assert_int_equal(right.verdict, EVENT_WITHIN_BOUNDS);
        struct judgement wrong = judge_stalls(LATENCY - 4, LATENCY - MULTIPLICATIONS - 4,
                                              LATENCY - 4 + 2 * MULTIPLICATIONS);
        assert_int_equal(wrong.verdict, EVENT_SOMETHING_ELSE);
}

/* ---- the kernels' work, counted by hand ---- */

/* Chases in each cache separate stalls on that cache from stalls on farther levels. */
TEST(each_cache_has_its_stalls)
{
        static const struct trial_sizes sizes = {32 << 10, 1 << 20, 8 << 20, 64 << 20};
        static const enum trial_id trials[] = {TRIAL_L1, TRIAL_L2, TRIAL_L3,
                                               TRIAL_MEMORY};
        static const enum concept concepts[] = {
            CONCEPT_MEMORY_STALLS, CONCEPT_L2_MISS_STALLS, CONCEPT_L3_MISS_STALLS};
        for (size_t c = 0; c < 3; c++)
                for (size_t t = 0; t < 4; t++) {
                        struct trial trial = trial_of(trials[t], &sizes);
                        double cycles = 200 * (double)trial.counts.accesses;
                        struct expectation expected =
                            trial_expects(&trial, concepts[c], cycles, 200);
                        assert_int_equal(expected.high > 0, t > c);
                }
}

/* Stores request ownership of lines, not demand reads. Loads do the opposite. */
TEST(demand_is_of_loads_or_of_stores)
{
        static const struct trial_sizes sizes = {32 << 10, 128 << 10, 0, 3 << 20};
        struct trial store = trial_of(TRIAL_STORE, &sizes);
        struct trial triad = trial_of(TRIAL_TRIAD, &sizes);
        struct trial load = trial_of(TRIAL_LOAD, &sizes);
        assert_true(trial_expects(&store, CONCEPT_DEMAND_READ, 1, 1).high == 0);
        assert_true(trial_expects(&store, CONCEPT_DEMAND_RFO, 1, 1).low == 49152);
        assert_true(trial_expects(&triad, CONCEPT_DEMAND_READ, 1, 1).low == 32768);
        assert_true(trial_expects(&triad, CONCEPT_DEMAND_RFO, 1, 1).low == 16384);
        assert_true(trial_expects(&load, CONCEPT_DEMAND_READ, 1, 1).low == 49152);
        assert_true(trial_expects(&load, CONCEPT_DEMAND_RFO, 1, 1).high == 0);
}

/* Streams fill the queue beyond L2 an unknown number of times; a chase never does. */
TEST(the_queue_is_right_when_it_was_full)
{
        struct observation chase = lines(0, 10, false);
        assert_int_equal(verdict(CONCEPT_SQ_FULL, &chase, 1), EVENT_UNKNOWN);
        assert_true(judge_usable(CONCEPT_SQ_FULL, EVENT_UNKNOWN));
        struct observation all[] = {
            chase, {.expected = {0, LINES, LINES}, .prefetchable = true}};
        assert_int_equal(verdict(CONCEPT_SQ_FULL, all, 2),
                         EVENT_UNKNOWN); /* never full */
        all[1].counted = LINES / 10;
        assert_int_equal(verdict(CONCEPT_SQ_FULL, all, 2), EVENT_WITHIN_BOUNDS);
        all[1].counted = 2 * LINES;
        assert_int_equal(verdict(CONCEPT_SQ_FULL, all, 2), EVENT_SOMETHING_ELSE);
        chase.counted = LINES;
        assert_int_equal(verdict(CONCEPT_SQ_FULL, &chase, 1), EVENT_SOMETHING_ELSE);
}

TEST(kernels_do_what_can_be_counted)
{
        static const struct trial_sizes sizes = {32 << 10, 128 << 10, 0, 1 << 20};
        struct trial pairs = trial_of(TRIAL_PAIRS, &sizes); /* every 128 bytes */
        assert_true(trial_expects(&pairs, CONCEPT_L1_MISS, 1, 1).low == 8192);
        assert_true(trial_expects(&pairs, CONCEPT_FB_HIT, 1, 1).high == 8192);
        assert_true(trial_expects(&pairs, CONCEPT_L1_MISS_ANY, 1, 1).low == 16384);
        assert_true(trial_expects(&pairs, CONCEPT_DRAM_READ, 1, 1).low == 8192);
        struct trial load = trial_of(TRIAL_LOAD, &sizes); /* every 8 bytes */
        assert_true(trial_expects(&load, CONCEPT_LOADS, 1, 1).low == 131072);
        assert_true(trial_expects(&load, CONCEPT_L1_MISS, 1, 1).high == 16384);
        assert_true(trial_expects(&load, CONCEPT_DRAM_READ, 1, 1).low == 16384);
        struct trial in_l1 = trial_of(TRIAL_L1, &sizes); /* 16 KiB */
        assert_true(trial_expects(&in_l1, CONCEPT_L1_MISS, 1, 1).high == 0);
        assert_true(trial_expects(&in_l1, CONCEPT_INSTRUCTIONS, 1, 1).low == 3 * 256);
        assert_false(trial_tells(&in_l1, CONCEPT_STALLS));
}
