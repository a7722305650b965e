/* SPDX-License-Identifier: MIT */
/* Shares, their intervals of confidence and percentiles against known values. */
#include "analysis_test.h"
#include "latencies.h"
#include "pairs.h"
#include "stall_limit.h"
#include "tally.h"
#include "text.h"
#include "unit_test.h"

static void add(struct tally *tally, int64_t latency_cycles)
{
        struct sample_facts sample = {.level = LEVEL_DRAM,
                                      .latency_cycles = latency_cycles};
        tally_add(tally, &sample, ANSWER_NO, CAUSE_DRAM);
}

/* With equal latencies the interval is Wilson's (Newcombe 1998, method 3). */
TEST(equal_latencies_give_wilsons_interval)
{
        struct tally part = {0}, whole = {0};
        for (int i = 0; i < 100; i++) {
                add(&whole, 7);
                if (i < 10)
                        add(&part, 7);
        }
        struct share share = cost_share(&part, &whole);
        assert_near(share.value, 0.10, 1e-12);
        assert_near(share.low, 0.0552, 5e-5);
        assert_near(share.high, 0.1744, 5e-5);
}

TEST(the_whole_and_nothing_have_a_range_too)
{
        struct tally none = {0}, whole = {0};
        for (int i = 0; i < 30; i++)
                add(&whole, 100);
        struct share all = cost_share(&whole, &whole);
        assert_near(all.value, 1, 0);
        assert_near(all.high, 1, 1e-12);
        assert_true(all.low > 0.8 && all.low < 0.95); /* Wilson, n = 30: 0.886 */
        assert_near(all.low, 0.8865, 1e-3);
        assert_near(cost_share(&none, &whole).high, 1 - 0.8865, 1e-3);
        assert_true(isnan(cost_share(&none, &none).value));
}

/* Samples of a population of known share, as uneven as a program's. */
TEST(the_interval_holds_the_truth_in_95_of_100_samples)
{
        enum { RUNS = 2000, SAMPLES = 400 };
        /* The part: a tenth of the loads, 300 cycles; the others: 4 or 100. */
        const double truth = 0.1 * 300 / (0.1 * 300 + 0.7 * 4 + 0.2 * 100);
        int held = 0;
        srand48(42);
        for (int run = 0; run < RUNS; run++) {
                struct tally part = {0}, whole = {0};
                for (int i = 0; i < SAMPLES; i++) {
                        double u = drand48();
                        int64_t latency = u < 0.1 ? 300 : u < 0.8 ? 4 : 100;
                        add(&whole, latency);
                        if (u < 0.1)
                                add(&part, latency);
                }
                struct share share = cost_share(&part, &whole);
                held += share.low <= truth && truth <= share.high;
        }
        /* Three standard errors of a proportion of 0.95 in 2000. */
        assert_in_range(held, (int)(RUNS * 0.935), (int)(RUNS * 0.965));
}

static void add_retired(struct tally *tally, int64_t cycles)
{
        struct sample_facts sample = {
            .level = LEVEL_DRAM, .latency_cycles = 200, .retire_latency_cycles = cycles};
        tally_add(tally, &sample, ANSWER_NO, CAUSE_DRAM);
}

/* Ten equal events among many samples are a Poisson count, with the score interval 10 +
 * z^2/2 -+ z sqrt(10 + z^2/4): 5.432 to 18.409. No event: 0 to z^2 = 3.841. */
TEST(rare_stalls_have_the_interval_of_a_count)
{
        struct tally line = {0}, other = {0}, whole = {0};
        for (int i = 0; i < 1000000; i++) {
                struct tally *part = i < 1000 ? &line : &other;
                add_retired(part, i < 10 ? 200 : 0);
                add_retired(&whole, i < 10 ? 200 : 0);
        }
        struct share stalled = tally_stalled(&line, &whole, 1e6, 0.001 / 200);
        assert_near(stalled.value, 0.010, 1e-12);
        assert_near(stalled.low, 0.005432, 1e-6);
        assert_near(stalled.high, 0.018409, 1e-6);
        stalled = tally_stalled(&other, &whole, 1e6, 0.001 / 200);
        assert_near(stalled.value, 0, 0);
        assert_near(stalled.low, 0, 0);
        assert_near(stalled.high, 0.003841, 1e-6);
        /* Loads of 50 cycles cannot stall for 200. */
        struct tally faster = {.retirements = 1000, .cost = 50000, .cost_squared = 2.5e6};
        stalled = tally_stalled(&faster, &whole, 1e6, 0.001 / 200);
        assert_near(stalled.high, 0.003841 / 4, 1e-6);
        assert_true(isnan(tally_stalled(&line, &whole, NAN, NAN).low));
}

TEST(stalls_of_all_loads_are_no_estimate)
{
        struct tally line = {0}, whole = {0};
        for (int i = 0; i < 100; i++) {
                add_retired(&whole, i);
                if (i % 3 == 0)
                        add_retired(&line, i);
        }
        struct share stalled = tally_stalled(&line, &whole, 1, 1e-4);
        assert_near(stalled.low, stalled.value, 1e-12);
        assert_near(stalled.high, stalled.value, 1e-12);
}

/* No program stalls for more than all its cycles: the range ends there. */
TEST(the_range_of_stalls_ends_at_all_cycles)
{
        struct tally whole = {0};
        for (int i = 0; i < 1000000; i++)
                add_retired(&whole, i < 10 ? 200 : 0);
        struct share stalled = tally_stalled(&whole, &whole, 1e6, 0.09 / 200);
        assert_near(stalled.value, 0.9, 1e-12);
        assert_near(stalled.low, 0.4889, 1e-4);
        assert_near(stalled.high, 1, 0);
        stalled = tally_stalled(&whole, &whole, 1e6, 0.2 / 200);
        assert_near(stalled.value, 2, 1e-12); /* the estimate is not cut */
        assert_near(stalled.low, 1, 0);
        assert_near(stalled.high, 1, 0);
}

/* One load in PERIOD, jittered by a quarter as the simulator does: a line whose loads
 * seldom stall, but then for long; one that often stalls a little; and others. */
TEST(the_range_of_stalls_holds_the_truth_in_95_of_100_runs)
{
        enum { RUNS = 1000, LOADS = 200000, PERIOD = 1000, LINES = 3 };
        static int64_t cycles[LOADS];
        static unsigned char line[LOADS];
        double truth[LINES] = {0}, all = 0;
        int held[LINES] = {0};
        srand48(11);
        for (int i = 0; i < LOADS; i++) {
                double u = drand48();
                line[i] = u < 0.1 ? 0 : u < 0.5 ? 1 : 2;
                cycles[i] = u < 0.04              ? 100 + (int64_t)(200 * drand48())
                            : u < 0.3 && u >= 0.1 ? (int64_t)(20 * drand48())
                                                  : 0;
                truth[line[i]] += (double)cycles[i];
                all += 2 * (double)cycles[i]; /* the other half waits for nothing */
        }
        for (int run = 0; run < RUNS; run++) {
                struct tally part[LINES] = {0}, whole = {0};
                for (int i = lrand48() % PERIOD; i < LOADS;
                     i += PERIOD * 3 / 4 + (int)(lrand48() % (PERIOD / 2 + 1))) {
                        add_retired(&part[line[i]], cycles[i]);
                        add_retired(&whole, cycles[i]);
                }
                for (int k = 0; k < LINES; k++) {
                        struct share stalled =
                            tally_stalled(&part[k], &whole, PERIOD, PERIOD / all);
                        held[k] += stalled.low <= truth[k] / all &&
                                   truth[k] / all <= stalled.high;
                }
        }
        /* Three standard errors of 0.95 in 1000, one point for few stalls. */
        for (int k = 0; k < 2; k++)
                assert_in_range(held[k], (int)(RUNS * 0.92), (int)(RUNS * 0.98));
        assert_int_equal(held[2], RUNS); /* it never stalls */
}

static double percentile_of_all(const struct latencies *latencies, unsigned percent)
{
        double result;
        assert_ok(latencies_percentile(latencies, NULL, 1, percent, &result));
        return result;
}

TEST(percentiles_are_by_nearest_rank)
{
        /* The textbook's case: 15 20 35 40 50. */
        static const int64_t values[] = {50, 15, 35, 40, 20};
        struct latencies latencies = {0};
        for (size_t i = 0; i < 5; i++)
                assert_ok(latencies_add(&latencies, 0, values[i]));
        assert_near(percentile_of_all(&latencies, 5), 15, 0);
        assert_near(percentile_of_all(&latencies, 30), 20, 0);
        assert_near(percentile_of_all(&latencies, 40), 20, 0);
        assert_near(percentile_of_all(&latencies, 50), 35, 0);
        assert_near(percentile_of_all(&latencies, 100), 50, 0);
        latencies_free(&latencies);
}

TEST(percentiles_of_groups_do_not_mix)
{
        struct latencies latencies = {0};
        for (int i = 0; i < 60; i++) { /* 1..20 in group 0, 101..120 in 1, none in 2 … */
                uint32_t group = (uint32_t)(i % 3 == 2 ? 3 : i % 3);
                assert_ok(latencies_add(&latencies, group, i / 3 + 1 + 100 * (i % 3)));
        }
        double p95[4];
        assert_ok(latencies_percentile(&latencies, NULL, 4, 95, p95));
        assert_near(p95[0], 19, 0);
        assert_near(p95[1], 119, 0);
        assert_true(isnan(p95[2]));
        assert_near(p95[3], 219, 0);

        static const uint32_t joined[] = {1, 1, 0, 0};
        assert_ok(latencies_percentile(&latencies, joined, 2, 50, p95));
        assert_near(p95[0], 210, 0);
        assert_near(p95[1], 20, 0);
        latencies_free(&latencies);
}

/* A million samples of ten latencies take the room of ten; long ones keep twelve bits. */
TEST(memory_grows_with_the_distinct_latencies)
{
        struct latencies latencies = {0};
        for (int i = 0; i < 1000000; i++)
                assert_ok(latencies_add(&latencies, 0, 4090 + i % 10));
        assert_int_equal(latencies.count, 2); /* runs: up to 4095, and from 4096 */
        assert_near(percentile_of_all(&latencies, 60), 4095, 0);
        assert_near(percentile_of_all(&latencies, 80), 4096, 0);
        assert_near(percentile_of_all(&latencies, 81), 4098, 0);
        assert_ok(latencies_add(&latencies, 0, INT64_MAX));
        double longest = percentile_of_all(&latencies, 100);
        assert_true(longest <= (double)INT64_MAX &&
                    longest > (double)INT64_MAX * (1 - 1.0 / 2048));
        latencies_free(&latencies);
}

/* ---- the facts of a verdict ---- */

static void add_caused(struct tally *tally, int count, int64_t latency_cycles,
                       enum cause cause)
{
        struct sample_facts sample = {.latency_cycles = latency_cycles};
        for (int i = 0; i < count; i++)
                tally_add(tally, &sample, ANSWER_NO, cause);
}

static enum verdict verdict(const struct tally *tally, double loads_per_cycle)
{
        struct verdict_facts facts = tally_facts(tally, loads_per_cycle, 1);
        return verdict_of(&facts);
}

/* The first load after a flush of 16 MiB waited for all flushed lines. */
TEST(one_long_sample_does_not_turn_a_verdict)
{
        struct tally walk = {0}, stream = {0};
        add_caused(&walk, 1, 674066, CAUSE_IN_CORE);
        add_caused(&walk, 2486, 140, CAUSE_DRAM);
        assert_int_equal(verdict(&walk, 1), VERDICT_DRAM_LATENCY);
        assert_near(walk.latency_cycles, 674066 + 2486 * 140, 0); /* shares are of all */

        /* Nor does the long sample weaken its cause, which leads without it. */
        add_caused(&stream, 1, 674066, CAUSE_IN_CORE);
        add_caused(&stream, 300, 1000, CAUSE_IN_CORE);
        add_caused(&stream, 1000, 200, CAUSE_DRAM);
        assert_int_equal(verdict(&stream, 1), VERDICT_IN_CORE);
}

TEST(a_cause_needs_five_samples_for_half_of_the_latency)
{
        for (int count = 1; count < 10; count++) {
                struct tally tally = {0};
                add_caused(&tally, 20, 50, CAUSE_CACHE);
                add_caused(&tally, count, 100000, CAUSE_DRAM);
                struct verdict_facts facts = tally_facts(&tally, 1, 1);
                assert_near(facts.cause_latency_cycles[CAUSE_DRAM] / facts.cost_ratio,
                            count / 10.0, 1e-9);
                assert_int_equal(verdict_of(&facts),
                                 count < 5 ? VERDICT_CACHE : VERDICT_DRAM_LATENCY);
        }
}

/* Loads of 10 cycles, one in 100000 cycles, cost little, despite one long sample. */
TEST(one_long_sample_costs_no_run)
{
        struct tally tally = {0};
        add_caused(&tally, 30, 10, CAUSE_CACHE);
        add_caused(&tally, 1, 1000000, CAUSE_CACHE);
        assert_int_equal(verdict(&tally, 1e-5), VERDICT_NONE);
}

/* Stall cycles are summed by cause, and one long stall counts as one stall. */
TEST(stalls_count_by_cause_and_as_equal_ones)
{
        struct tally tally = {0};
        struct sample_facts sample = {.latency_cycles = 100, .retire_latency_cycles = 10};
        for (int i = 0; i < 30; i++)
                tally_add(&tally, &sample, ANSWER_NO, CAUSE_CACHE);
        sample.retire_latency_cycles = 0;
        for (int i = 0; i < 70; i++)
                tally_add(&tally, &sample, ANSWER_NO, CAUSE_DRAM);
        struct verdict_facts facts = tally_facts(&tally, 1, 1);
        assert_near(facts.cause_retire_cycles[CAUSE_CACHE], 300, 0);
        assert_near(facts.cause_retire_cycles[CAUSE_DRAM], 0, 0);
        assert_near(facts.stalls, 30, 1e-9);
        assert_int_equal(verdict_of(&facts), VERDICT_CACHE);
        sample.retire_latency_cycles = 100000;
        tally_add(&tally, &sample, ANSWER_NO, CAUSE_CONTENTION);
        facts = tally_facts(&tally, 1, 1);
        assert_true(facts.stalls < 1.01);
        assert_int_equal(verdict_of(&facts), VERDICT_DRAM_LATENCY);
}

static int descending(const void *left, const void *right)
{
        double a = *(const double *)left, b = *(const double *)right;
        return (a < b) - (a > b);
}

/* SAMPLES served by LEVEL; RETIRE_CYCLES is 0 if another load hid the latency. */
static void add_cached(struct tally *tally, int samples, enum level level,
                       int64_t latency_cycles, int64_t retire_cycles)
{
        struct sample_facts sample = {.level = level,
                                      .latency_cycles = latency_cycles,
                                      .retire_latency_cycles = retire_cycles};
        for (int i = 0; i < samples; i++)
                tally_add(tally, &sample, ANSWER_NO, CAUSE_CACHE);
}

/* L2 serves most loads and L3 causes most waits, or the other way round. */
TEST(the_cache_is_that_of_what_held_up_the_program)
{
        struct tally waits = {0}, hidden = {0}, untimed = {0};
        add_cached(&waits, 100, LEVEL_L2, 14, 1);
        add_cached(&waits, 30, LEVEL_L3, 55, 40);
        assert_int_equal(tally_cache_level(&waits), LEVEL_L3);
        add_cached(&hidden, 100, LEVEL_L3, 55, 0);
        add_cached(&hidden, 30, LEVEL_L2, 14, 12);
        assert_int_equal(tally_cache_level(&hidden), LEVEL_L2);
        add_cached(&untimed, 100, LEVEL_L3, 55, -1);
        add_cached(&untimed, 30, LEVEL_L2, 14, -1);
        assert_int_equal(tally_cache_level(&untimed), LEVEL_L3);
}

/* Outstanding lines do not show where they come from, nor do few samples. */
TEST(too_few_loads_that_asked_tell_no_cache)
{
        struct tally tally = {0};
        add_cached(&tally, 1000, LEVEL_LFB, 30, 20);
        add_cached(&tally, 4, LEVEL_L2, 14, 10);
        assert_int_equal(tally_cache_level(&tally), LEVEL_NA);
        add_cached(&tally, 1, LEVEL_L2, 14, 10);
        assert_int_equal(tally_cache_level(&tally), LEVEL_L2);
        struct sample_facts elsewhere = {.level = LEVEL_L3, .latency_cycles = 900};
        tally_add(&tally, &elsewhere, ANSWER_NO, CAUSE_IN_CORE);
        assert_int_equal(tally_cache_level(&tally), LEVEL_L2);
}

/* With long tails the limit is a tenth of the sum of limited values. */
TEST(no_sample_counts_for_more_than_a_tenth)
{
        srand48(7);
        for (int run = 0; run < 1000; run++) {
                double values[60], sum = 0, left = 0;
                int count = 10 + run % 51;
                struct longest longest = {0};
                for (int i = 0; i < count; i++) {
                        values[i] = floor(10 / pow(1 - drand48(), 1 + run % 2));
                        longest_add(&longest, values[i], 0);
                        sum += values[i];
                }
                qsort(values, (size_t)count, sizeof(*values), descending);
                assert_memory_equal(longest.cycles, values, sizeof(longest.cycles));
                double limit = longest_limit(&longest, count, sum);
                for (int i = 0; i < count; i++)
                        left += fmin(values[i], limit);
                assert_near(10 * limit / left, 1, 1e-9);
        }
}

/* One sample counts for at most a twentieth, unless several samples are as long. */
TEST(one_sample_has_a_twentieth_of_what_was_held_up)
{
        double longest[STALL_LIMIT_PARTS] = {674066, 30000, 60, 60, 60, 60, 60};
        for (int i = 7; i < STALL_LIMIT_PARTS; i++)
                longest[i] = 60;
        const double others = 18000;
        double limit = stall_limit(longest, STALL_LIMIT_PARTS, others + 704066);
        assert_near(limit, (others + 2 * limit) / 20, 1e-6);
        /* All short enough. */
        double short_ones[STALL_LIMIT_PARTS] = {60, 60, 60};
        assert_true(stall_limit(short_ones, 3, 180) >= 60);
        assert_true(stall_limit(short_ones, STALL_LIMIT_PARTS, 60000) >= 60);
        /* Five are as long, beside one that is longer. */
        double five[STALL_LIMIT_PARTS] = {9000, 187, 187, 187, 187};
        assert_near(stall_limit(five, STALL_LIMIT_PARTS, 9748), 187, 0);
        /* Four are long among too few to tell that they are an accident. */
        double few[STALL_LIMIT_PARTS - 1] = {188, 188, 188, 188, 13, 13, 13};
        assert_near(stall_limit(few, 7, 791), 188, 0);
        double two[STALL_LIMIT_PARTS - 1] = {674066, 200};
        assert_near(stall_limit(two, 2, 674266), 674066, 0);
        assert_near(stall_limit(NULL, 0, 0), 0, 0);
}

TEST(samples_without_a_latency_are_only_counted)
{
        struct tally tally = {0};
        add(&tally, -1);
        add(&tally, 100);
        assert_int_equal(tally.samples, 2);
        assert_int_equal(tally.dram_samples, 2);
        assert_near(tally_mean_latency(tally.latency_cycles, tally.latencies), 100, 0);
}

TEST(every_pair_has_one_value)
{
        struct value {
                int64_t times;
                uint32_t number;
        };
        struct pairs pairs = {.value_bytes = sizeof(struct value)};
        for (int round = 0; round < 3; round++)
                for (uint32_t i = 0; i < 1000; i++) {
                        struct value *value = pairs_get(&pairs, i * 7919 % 1000, i % 10);
                        value->times++;
                        value->number = i * 7919 % 1000;
                }
        assert_int_equal(pairs.count, 1000);
        assert_ok(pairs_sort(&pairs));
        for (size_t i = 0; i < pairs.count; i++) {
                assert_int_equal(pairs.pairs[i].first, i);
                const struct value *value = pairs_value(&pairs, i);
                assert_int_equal(value->times, 3);
                assert_int_equal(value->number, i);
        }
        pairs_free(&pairs);
}

/* The processor time of COUNT keys, multiples of STEP, in both tables. */
static double seconds_of_keys(uint64_t step, uint32_t count)
{
        struct pairs pairs = {0};
        struct latencies latencies = {0};
        clock_t begin = clock();
        for (uint64_t i = 1; i <= count; i++) {
                uint32_t first = (uint32_t)(i * step >> 32),
                         second = (uint32_t)(i * step);
                assert_int_equal(pairs_place(&pairs, first, second), i - 1);
                assert_ok(latencies_add(&latencies, first, second % 4096));
        }
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        pairs_free(&pairs);
        latencies_free(&latencies);
        return seconds;
}

/* By the golden ratio's multiplier these products were 1, 2, 3 …: one slot for all. */
TEST(chosen_keys_do_not_meet_in_one_slot)
{
        const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
        uint64_t inverse = multiplier; /* by Newton's method, 3 bits right at first */
        for (int bits = 3; bits < 64; bits *= 2)
                inverse *= 2 - multiplier * inverse;
        assert_true(multiplier * inverse == 1);
        double others = seconds_of_keys(UINT64_C(0x100000001), 50000);
        assert_true(seconds_of_keys(inverse, 50000) < 50 * others);
}

/* RFC 3629's limits. */
TEST(only_utf8_and_no_control_reaches_the_terminal)
{
        static const struct {
                const char *bytes;
                const char *shown;
        } cases[] = {
            {"plain", "plain"},
            {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80",
             "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"},
            {"\x1b[2J", "\\x1b[2J"},
            {"a\nb\tc", "a\\nb\\tc"},
            {"\xc2\x9b", "\\xc2\\x9b"}, /* CSI in eight bits */
            {"\xff\xfe", "\\xff\\xfe"},
            {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
            {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
            {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
            {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
            {"\xe2\x82", "\\xe2\\x82"}, /* cut off */
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                char *shown = text_printable(cases[i].bytes, strlen(cases[i].bytes));
                assert_string_equal(shown, cases[i].shown);
                free(shown);
        }
        assert_int_equal(text_width("na\xc3\xafve"), 5);
}
