/* SPDX-License-Identifier: MIT */
/* The arithmetic of calibration on known curves, and the kernels' data and counts. */
#include <sched.h>
#include <sys/prctl.h>

#include "buffer.h"
#include "curve.h"
#include "estimate.h"
#include "kernel.h"
#include "loaded.h"
#include "measure.h"
#include "survey.h"
#define TEST_SETUP    read_cpus
#define TEST_TEARDOWN free_cpus
#include "unit_test.h"

static struct cpu_list cpus;
static struct diag diag;

static int read_cpus(void **state)
{
        return cpu_list_read(&cpus, &diag);
}

static int free_cpus(void **state)
{
        cpu_list_free(&cpus);
        return 0;
}

static void assert_within(double value, double expected, double ratio)
{
        if (!(fabs(value / expected - 1) < ratio))
                fail_msg("%g is not within %g of %g", value, ratio, expected);
}

/* ---- estimates ---- */

TEST(low_decile_ignores_noise)
{
        double values[40]; /* half are disturbed */
        for (size_t i = 0; i < 40; i++)
                values[i] = i % 2 ? 10 + (double)i : 10;
        struct estimate estimate = estimate_of(values, 40);
        assert_true(estimate.value == 10 && estimate.low == 10 && estimate.high == 10);
        assert_true(estimate_error(&estimate) == 0);
}

TEST(interval_holds_the_decile_95_times_of_100)
{
        enum { TRIALS = 4000, ROUNDS = 60 };
        size_t inside = 0;
        srand48(1);
        for (size_t t = 0; t < TRIALS; t++) {
                double values[ROUNDS];
                for (size_t i = 0; i < ROUNDS; i++)
                        values[i] = drand48(); /* its lowest decile ends at 0.1 */
                struct estimate estimate = estimate_of(values, ROUNDS);
                inside += estimate.low <= 0.1 && estimate.high >= 0.1;
        }
        /* Order statistics are whole, so the interval is wider than asked, never less. */
        assert_true(inside > 0.945 * TRIALS);
        assert_true(inside < 0.995 * TRIALS);
}

/* One or two visits agree with themselves, which says nothing of the machine. */
TEST(few_visits_have_no_known_error)
{
        double values[] = {3, 3, 3};
        for (size_t count = 1; count <= 3; count++) {
                struct estimate estimate = estimate_of(values, count);
                double error = estimate_error(&estimate);
                assert_true(count < 3 ? isnan(error) : error == 0);
                assert_true(estimate.value == 3 && estimate.low == 3);
                assert_true(estimate.high == 3);
        }
}

TEST(an_unknown_error_is_the_worst)
{
        struct survey survey = {0};
        survey_noise(&survey, 0.02, "the first");
        survey_noise(&survey, NAN, "the second");
        survey_noise(&survey, 0.3, "the third");
        assert_true(isnan(survey.worst_error));
        assert_string_equal(survey.worst_figure, "the second");
}

/* Most rounds ran beside a busy neighbour, or were interrupted: only the other rounds
 * count. Without them, the rounds beside the neighbour count. */
TEST(disturbed_rounds_count_only_without_others)
{
        struct series series = {0};
        for (size_t i = 0; i < 40; i++) {
                series_add(&series, 13, SHARED);
                series_add(&series, 40, INTERRUPTED);
        }
        assert_int_equal(series_estimate(&series).disturbance, SHARED);
        struct estimate estimate = series_estimate(&series);
        assert_true(estimate.value == 13 && estimate.high == 13);
        for (size_t i = 0; i < 10; i++)
                series_add(&series, 10, UNDISTURBED);
        assert_int_equal(series_estimate(&series).disturbance, UNDISTURBED);
        estimate = series_estimate(&series);
        assert_true(estimate.value == 10 && estimate.rounds == 10);
        double low, high;
        assert_int_equal(series_range(&series, 0.8, &low, &high), 10);
        assert_true(low == 10 && high == 10);
        struct series even = {0};
        assert_int_equal(series_range(&even, 0.8, &low, &high), 0);
        assert_true(isnan(low) && isnan(high));
        for (int i = 20; i >= 0; i--)
                series_add(&even, i, UNDISTURBED);
        assert_int_equal(series_range(&even, 0.8, &low, &high), 21);
        assert_true(low == 2 && high == 18);
}

/* ---- figures that repeat ---- */

enum { MANY = 40 };

/* Lists of a survey that the caller frees. */
static struct survey new_survey(void)
{
        return (struct survey){
            .left_out = json_array(), .unvisited = json_array(), .drifted = json_array()};
}

static void free_survey(struct survey *survey)
{
        json_decref(survey->left_out);
        json_decref(survey->unvisited);
        json_decref(survey->drifted);
}

/* Visits to something that takes NS alone. Other tenants add up to half of that to every
 * other visit, and the second half takes LATER times as long. */
static struct series visits_of(double ns, size_t count, double later)
{
        struct series series = {0};
        for (size_t i = 0; i < count; i++)
                series_add(&series,
                           ns * (i < count / 2 ? 1 : later) *
                               (1 + 0.01 * drand48() + fmax(0, drand48() - 0.5)),
                           UNDISTURBED);
        return series;
}

TEST(a_figure_is_known_if_both_halves_of_its_visits_agree)
{
        srand48(11);
        struct survey survey = new_survey();
        for (size_t trial = 0; trial < 100; trial++) {
                struct series steady = visits_of(160, MANY, 1);
                struct estimate estimate = survey_estimate(&survey, &steady);
                assert_within(survey_known(&survey, &estimate, "memory"), 160, 0.1);
                struct series drifting = visits_of(160, MANY, 1.2);
                estimate = survey_estimate(&survey, &drifting);
                assert_true(isnan(survey_known(&survey, &estimate, "L%d", 3)));
                assert_int_equal(json_array_size(survey.drifted), trial + 1);
        }
        assert_non_null(
            strstr(json_string_value(json_array_get(survey.drifted, 0)), "L3 ("));
        assert_true(survey.worst_error > 0);
        /* Visits beside other programs are no evidence, even if all agree. */
        struct series beside = {0};
        for (size_t i = 0; i < MANY; i++)
                series_add(&beside, 160, SHARED);
        struct estimate beside_others = survey_estimate(&survey, &beside);
        assert_true(isnan(survey_known(&survey, &beside_others, "beside")));
        struct series few = visits_of(160, 3, 1);
        struct estimate estimate = survey_estimate(&survey, &few);
        assert_true(isnan(survey_known(&survey, &estimate, "few")));
        assert_string_equal(json_string_value(json_array_get(survey.unvisited, 1)),
                            "few");
        assert_int_equal(json_array_size(survey.left_out), 0);
        /* A quick survey believes them, and does not know their error. */
        survey.quick = true;
        assert_false(isnan(survey_known(&survey, &estimate, "few")));
        free_survey(&survey);
}

/* Both latencies drift by less than their limit, and the difference by far more. */
TEST(a_difference_is_judged_by_itself)
{
        struct survey survey = new_survey();
        struct series far = {0}, near = {0};
        for (size_t i = 0; i < MANY; i++) {
                series_add(&far, i < MANY / 2 ? 100 : 104, UNDISTURBED);
                series_add(&near, 90, UNDISTURBED);
        }
        struct estimate a = series_estimate(&far), b = series_estimate(&near);
        assert_false(isnan(survey_known(&survey, &a, "far")));
        struct estimate walk = estimate_sum(&a, -1, &b);
        assert_true(walk.value == 10 && walk.early == 10 && walk.late == 14);
        assert_true(isnan(survey_known(&survey, &walk, "walk")));
        /* Half of the doubled drift stays. */
        struct estimate ratio = estimate_quotient(&a, &b), twice = estimate_times(2, &a);
        assert_float_equal(estimate_drift(&ratio), estimate_drift(&a), 1e-9);
        assert_float_equal(estimate_drift(&twice), estimate_drift(&a), 1e-9);
        /* A difference that is no time at all. */
        struct estimate none = estimate_sum(&b, -1, &b);
        assert_true(isnan(survey_known(&survey, &none, "none")));
        free_survey(&survey);
}

TEST(a_number_is_whole_if_it_is_certain)
{
        assert_true(estimate_whole(4.1) == 4 && estimate_whole(20.4) == 20);
        assert_true(isnan(estimate_whole(4.4)) && isnan(estimate_whole(1.49)));
        assert_true(isnan(estimate_whole(NAN)));
}

TEST(what_cannot_be_is_not_believed)
{
        assert_true(curve_threads_can(2, 62.1, 32.7));
        assert_false(curve_threads_can(2, 63, 17.5));
        assert_true(curve_walk_can(22.4, 130));
        assert_false(curve_walk_can(178.9, 200));
        assert_true(curve_walk_can(22.4, NAN)); /* nothing to compare with */
}

/* Costs of a TLB of FIRST and SECOND entries, whose second level takes 2 ns. A random
 * chase begins to miss a tenth before the end of a level, and always misses from a third
 * beyond. A walk takes WALK_NS, times GROWS for each octave beyond 4096 pages. */
static void make_tlb(double first, double second, double walk_ns, double grows,
                     struct page_point *points, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                double pages = 16 * exp2((double)i / 2);
                double missing = (pages / second - 0.9) / (1.33 - 0.9);
                double octaves = fmax(0, log2(pages / 4096));
                missing = fmin(1, fmax(0, missing));
                points[i] = (struct page_point){
                    (uint64_t)pages,
                    pages <= first
                        ? 0
                        : 2 * (1 - missing) + missing * walk_ns * pow(grows, octaves)};
        }
}

/* Its end does not depend on the walks of many more pages. */
TEST(the_second_level_ends_where_it_does)
{
        enum { POINTS = 19 };
        static const double entries[] = {512, 1024, 1536, 2048, 3072};
        static const double walks_ns[] = {8, 14, 30}, growths[] = {1, 1.5, 2};
        struct page_point points[POINTS];
        for (size_t e = 0; e < 5; e++) {
                for (size_t w = 0; w < 9; w++) {
                        make_tlb(64, entries[e], walks_ns[w / 3], growths[w % 3], points,
                                 POINTS);
                        double reach = curve_second_reach(points, POINTS, 5);
                        assert_within(reach, entries[e], 0.25);
                }
        }
}

/* Another thread uses a part of the TLB in more than half of the visits. */
TEST(what_another_thread_takes_of_the_tlb_does_not_count)
{
        enum { POINTS = 19, VISITS = 12 };
        static const double entries[] = {1024, 1536, 2048, 3072};
        struct page_point clean[POINTS], shared[POINTS], points[POINTS];
        srand48(7);
        for (size_t e = 0; e < 4; e++) {
                make_tlb(64, entries[e], 14, 1.5, clean, POINTS);
                for (size_t i = 0; i < POINTS; i++) {
                        struct series apart = {0}, dense = {0};
                        for (size_t v = 0; v < VISITS; v++) {
                                bool alone = v % 3 == 0 || drand48() < 0.1;
                                double left = alone ? 1 : 0.4 + 0.4 * drand48();
                                make_tlb(64, left * entries[e], 14, 1.5, shared, POINTS);
                                series_add(&apart, 4 + shared[i].ns, UNDISTURBED);
                                series_add(&dense, 4 + (alone ? 0 : 0.1 * drand48()),
                                           UNDISTURBED);
                        }
                        struct estimate far = series_estimate(&apart),
                                        near = series_estimate(&dense);
                        struct estimate cost = estimate_sum(&far, -1, &near);
                        points[i] = (struct page_point){clean[i].pages, cost.value};
                }
                assert_within(curve_second_reach(points, POINTS, 5),
                              curve_second_reach(clean, POINTS, 5), 0.02);
        }
}

/* A TLB of 4096 entries as an EPYC of family 26 showed it; other programs spoiled the
 * visits to 1722 and 2048 pages, and walks from 4871 pages on are of another visit. */
TEST(spoiled_points_do_not_end_the_second_level)
{
        struct page_point points[] = {
            {64, 0},      {91, 0},      {128, 1.84},  {181, 1.84},   {256, 1.85},
            {362, 1.83},  {512, 1.86},  {724, 1.82},  {1024, 1.84},  {1218, 1.86},
            {1448, 1.85}, {1722, 4.09}, {2048, 3.04}, {2435, 1.93},  {2896, 1.90},
            {4096, 3.61}, {4871, 9.85}, {5793, 14.2}, {6889, 14.48}, {8192, 20.8}};
        size_t count = LENGTH(points);
        curve_settle_costs(points, count);
        double reach = curve_second_reach(points, count, 2);
        assert_true(reach > 2896 && reach < 4871);
        assert_float_equal(points[11].ns, 1.90, 1e-9);
        assert_float_equal(points[19].ns, 20.8, 1e-9);
}

TEST(a_second_level_may_reach_all)
{
        enum { POINTS = 19 };
        struct page_point points[POINTS];
        make_tlb(64, 1 << 20, 14, 1, points, POINTS);
        assert_true(curve_second_reach(points, POINTS, 5) ==
                    (double)points[POINTS - 1].pages);
        assert_true(curve_second_reach(points, 6, 5) == (double)points[5].pages);
}

/* A block of STEPS loads of HIT cycles each. One in THROWN takes MISS cycles, as others
 * evicted its line. The clock's resolution is 10 ns, 27 cycles at 2.7 GHz. */
static double block_cycles(unsigned steps, double hit, double miss, unsigned thrown)
{
        enum { TIMING = 45, CLOCK_CYCLES = 27 };
        double cycles = TIMING;
        for (unsigned i = 0; i < steps; i++)
                cycles += lrand48() % thrown == 0 ? miss : hit;
        return floor(cycles / CLOCK_CYCLES + drand48()) * CLOCK_CYCLES;
}

TEST(lines_thrown_out_do_not_count_in_blocks)
{
        enum { BLOCKS = 1000, THROWN = 100 };
        static const struct {
                double hit, miss;
        } machines[] = {{14, 260}, {36, 220}, {50, 300}, {75, 480}};
        double short_cycles[BLOCKS], long_cycles[BLOCKS];
        srand48(7);
        for (size_t m = 0; m < LENGTH(machines); m++) {
                double hit = machines[m].hit, miss = machines[m].miss;
                for (size_t i = 0; i < BLOCKS; i++) {
                        short_cycles[i] =
                            block_cycles(CHASE_SHORT_STEPS, hit, miss, THROWN);
                        long_cycles[i] =
                            block_cycles(CHASE_LONG_STEPS, hit, miss, THROWN);
                }
                double step = chase_step_of_blocks(short_cycles, long_cycles, BLOCKS);
                assert_within(step, hit, 0.02);
        }
}

TEST(interrupted_rounds_are_better_than_none)
{
        struct series series = {0};
        for (size_t i = 0; i < 2 * SERIES_MAX; i++) /* more than there is room for */
                series_add(&series, 40, INTERRUPTED);
        assert_true(series_estimate(&series).value == 40);
        assert_int_equal(series_estimate(&series).rounds, SERIES_MAX);
}

/* ---- curves ---- */

/* Quarter octaves from 4 KiB; a random chase hits a cache with capacity / size. */
static size_t make_curve(struct latency_point *points, const double *capacities,
                         const double *latencies, size_t levels)
{
        size_t count = 0;
        for (double size = 4096; size <= 268435456.0; size *= exp2(0.25)) {
                double ns = latencies[levels];
                for (size_t l = levels; l-- > 0;) {
                        double hits = fmin(1, capacities[l] / size);
                        ns = hits * latencies[l] + (1 - hits) * ns;
                }
                points[count++] =
                    (struct latency_point){(uint64_t)(size + 0.5), ns, 0.01};
        }
        return count;
}

TEST(three_caches_are_found)
{
        /* M17's machine: 4, 12 and 53 cycles of 2.5 GHz, and memory. */
        const double capacities[] = {32768, 262144, 31457280};
        const double latencies[] = {1.6, 4.8, 21.2, 96};
        struct latency_point points[80];
        struct plateau plateaus[8];
        size_t count = make_curve(points, capacities, latencies, 3);
        assert_int_equal(curve_plateaus(points, count, plateaus, 8), 4);
        for (size_t i = 0; i < 3; i++) {
                double capacity = (double)plateaus[i].capacity_bytes;
                assert_within(capacity, capacities[i], 0.2);
                assert_within(plateaus[i].ns, latencies[i], 0.12);
        }
        assert_true(plateaus[3].ns > 0.85 * latencies[3]);
}

TEST(noise_makes_no_levels)
{
        const double capacities[] = {32768, 1048576};
        const double latencies[] = {1.1, 3.8, 110};
        struct latency_point points[80];
        struct plateau plateaus[8];
        size_t count = make_curve(points, capacities, latencies, 2);
        srand48(2);
        for (size_t i = 0; i < count; i += 5) /* noise only adds */
                points[i].ns *= 1 + drand48();
        assert_int_equal(curve_plateaus(points, count, plateaus, 8), 3);
        assert_within(plateaus[0].ns, 1.1, 0.10);
        assert_within(plateaus[1].ns, 3.8, 0.15);
}

/* Levels found on a shared processor: a part of the last cache, then sizes with some
 * lines still cached. Also a fourth level that the system does not report. */
TEST(what_is_nearly_memory_is_no_cache)
{
        struct plateau found[] = {{32768, 1.1, 0},
                                  {1 << 20, 3.8, 0},
                                  {3 << 20, 14, 0},
                                  {8 << 20, 113, 0},
                                  {1 << 28, 167, 0}};
        struct plateau fourth[LENGTH(found)];
        memcpy(fourth, found, sizeof(found));
        fourth[3].ns = 60;
        assert_int_equal(curve_cache_levels(found, 5, 3, true), 3);
        assert_int_equal(curve_cache_levels(found, 5, 0, true), 3);
        assert_int_equal(curve_cache_levels(fourth, 5, 3, true), 3);
        assert_int_equal(curve_cache_levels(fourth, 5, 0, true), 4);
        /* Data that ends in the last cache, or just beyond it. */
        assert_int_equal(curve_cache_levels(fourth, 4, 3, false), 2);
        assert_int_equal(curve_cache_levels(found, 0, 3, true), 0);
}

/* An EPYC of family 26 without huge pages, whose L3 others used: memory's latency grows
 * by misses of the TLB from 131 ns to 271. */
TEST(latency_that_the_tlb_bounds_is_no_cache)
{
        const struct latency_point points[] = {
            {4096, 1.05, NAN},      {5120, 1.051, NAN},     {5632, 1.05, NAN},
            {6656, 1.051, NAN},     {8192, 1.046, NAN},     {9728, 1.049, NAN},
            {11776, 1.05, NAN},     {13824, 1.036, NAN},    {16384, 1.039, NAN},
            {19456, 1.047, NAN},    {23040, 1.05, NAN},     {27648, 1.05, NAN},
            {32768, 1.05, NAN},     {38912, 1.05, NAN},     {46592, 1.053, NAN},
            {55296, 3.703, NAN},    {65536, 3.671, NAN},    {77824, 3.655, NAN},
            {92672, 3.675, NAN},    {110080, 3.674, NAN},   {131072, 3.674, NAN},
            {155648, 3.676, NAN},   {185344, 3.676, NAN},   {220672, 3.674, NAN},
            {262144, 3.677, NAN},   {311808, 3.679, NAN},   {370688, 3.678, NAN},
            {440832, 3.897, NAN},   {524288, 4.14, NAN},    {623616, 4.388, NAN},
            {741376, 5.164, NAN},   {881664, 7.622, NAN},   {1048576, 25.67, NAN},
            {1246720, 21.4, NAN},   {1482752, 97.33, NAN},  {1763328, 124.9, NAN},
            {2097152, 132.5, NAN},  {2493952, 131.4, NAN},  {2966016, 131.1, NAN},
            {3527168, 143.1, NAN},  {4194304, 142, NAN},    {4987904, 145.2, NAN},
            {5931520, 144.9, NAN},  {8388608, 146.6, NAN},  {16777216, 154.4, NAN},
            {33554432, 175.4, NAN}, {67108864, 190.6, NAN}, {134217728, 214.6, NAN},
            {268435456, 271.1, NAN}};
        const uint64_t reports[] = {49152, 1 << 20, 32 << 20};
        const size_t count = LENGTH(points);
        struct plateau levels[8];
        size_t found = curve_plateaus(points, count, levels, 8);
        double memory_ns = levels[found - 1].ns;
        found = curve_merge_plateaus(levels, found, reports, 3);
        found = curve_cache_levels(levels, found, 3, true);
        assert_int_equal(found, 3); /* the third is memory */
        curve_capacities(points, count, memory_ns, levels, found);
        assert_true(curve_may_be_memory(&levels[2], reports[2], memory_ns, true));
        assert_true(curve_may_be_memory(&levels[2], reports[2], memory_ns, false));
        for (size_t i = 0; i < 2; i++)
                assert_false(
                    curve_may_be_memory(&levels[i], reports[i], memory_ns, true));
        /* A real L3 on small pages; a part that a hypervisor reports; a slow L3. */
        const struct plateau third = {32 << 20, 14, 0}, slow = {32 << 20, 60, 0};
        assert_false(curve_may_be_memory(&third, 32 << 20, 160, true));
        assert_false(curve_may_be_memory(&third, 16 << 20, 160, false));
        assert_false(curve_may_be_memory(&slow, 32 << 20, 110, false));
        assert_false(curve_may_be_memory(&slow, 0, 110, false));
}

/* The same machine with few and many other tenants, who use more of the last cache. */
TEST(a_level_has_its_latency_wherever_it_ends)
{
        enum { MIB = 1 << 20 };
        const struct latency_point beyond[] = {{100 << 10, 4, 0.01},
                                               {3 * MIB, 13.9, 0.02}};
        const uint64_t ends[] = {5 * MIB, 3 * MIB};
        for (size_t run = 0; run < 2; run++) {
                struct plateau found[] = {
                    {16384, 1, 0}, {MIB / 2, 4.2, 0}, {ends[run], 15, 0}};
                curve_steady_latencies(beyond, found, 3);
                assert_true(found[0].ns == 1 && found[1].ns == 4 && found[2].ns == 13.9);
                assert_true(found[2].error == 0.02);
        }
        /* Nothing was measured there, or only outside the plateau. */
        const struct latency_point none[] = {{0, NAN, NAN}, {3 * MIB, 13.9, 0.02}};
        struct plateau kept[] = {{16384, 1, 0}, {MIB / 2, 4.2, 0}, {2 * MIB, 15, 0}};
        curve_steady_latencies(none, kept, 3);
        assert_true(kept[1].ns == 4.2 && kept[2].ns == 15);
}

/* Others use so much of the last cache that each size has another latency. */
TEST(a_level_without_a_plateau_has_a_latency)
{
        enum { POINTS = 8, MIB = 1 << 20 };
        const double sizes[POINTS] = {0.5, 1.2, 2, 2.4, 2.8, 4, 8, 64};
        const double shared[POINTS] = {4, 11, 13.8, 20, 33, 60, 99, 158};
        const struct latency_point hit = {14 * MIB / 5, 13.8, 0.02};
        const struct latency_point miss = {14 * MIB / 5, 98, 0.02}, none = {0, NAN, NAN};
        struct latency_point points[POINTS];
        struct plateau level;
        for (size_t i = 0; i < POINTS; i++)
                points[i] =
                    (struct latency_point){(uint64_t)(sizes[i] * MIB), shared[i], 0.02};
        assert_true(curve_hidden_level(&hit, 158, &level));
        assert_true(level.ns == 13.8 && level.error == 0.02);
        curve_capacities(points, POINTS, 158, &level, 1);
        assert_in_range(level.capacity_bytes, 4 * MIB, 8 * MIB); /* half way is at 85.9 */
        assert_false(curve_hidden_level(&miss, 158, &level));
        assert_false(curve_hidden_level(&none, 158, &level));
        /* With four sizes an octave, one or two are just beyond any size. */
        for (double before = 20000; before < 2e8; before *= 1.07) {
                unsigned beyond = 0;
                for (double size = 4096; size < 1e9; size *= exp2(0.25))
                        beyond += curve_is_beyond((uint64_t)size, (uint64_t)before);
                assert_in_range(beyond, 1, 2);
        }
        assert_false(curve_is_beyond(2 * MIB, MIB)); /* some lines are still cached */
}

/* The share of a chase's loads that hit a cache of WAYS under LRU, with LINES a set on
 * average. Pages lie anywhere: the number of lines in a set is Poisson-distributed. */
static double lru_hits(double ways, double lines)
{
        double term = exp(-lines), sum = 0;
        for (double k = 0; k < ways; k++, term *= lines / k)
                sum += term;
        return sum;
}

/* A cache ends where half of the loads miss it, even if latency rises long before: 96 TLB
 * entries reach 384 KiB, and the second-level TLB takes 1.9 ns. The next cache has a
 * separate plateau, or others use nine tenths. */
TEST(a_cache_ends_where_half_is_missed)
{
        enum { KIB = 1 << 10, MIB = 1 << 20 };
        const double capacities[] = {48 * KIB, MIB};
        const double lasts[] = {32.0 * MIB, 3.2 * MIB};
        const double latencies[] = {1.1, 3.7, 13.5, 160};
        const uint64_t reports[] = {48 * KIB, MIB, 32 * MIB};
        for (size_t run = 0; run < 2; run++) {
                struct latency_point points[80];
                struct plateau levels[8];
                size_t count = 0;
                for (double size = 4096; size <= 268435456.0; size *= exp2(0.25)) {
                        const double hits[] = {
                            lru_hits(12, 12 * size / capacities[0]),
                            lru_hits(16, 16 * size / capacities[1]),
                            lru_hits(16, 16 * size / lasts[run]),
                        };
                        double ns = latencies[3];
                        for (size_t l = 3; l-- > 0;)
                                ns = hits[l] * latencies[l] + (1 - hits[l]) * ns;
                        ns += 1.9 * fmax(0, 1 - 384 * KIB / size);
                        points[count++] =
                            (struct latency_point){(uint64_t)(size + 0.5), ns, 0.01};
                }
                size_t found = curve_plateaus(points, count, levels, 8);
                found = curve_merge_plateaus(levels, found, reports, 3);
                found = curve_cache_levels(levels, found, 3, true);
                if (found == 2) {
                        const struct latency_point beyond = {3 * MIB, 13.5, 0.01};
                        found += curve_hidden_level(&beyond, 160, &levels[2]);
                }
                assert_int_equal(found, 3);
                curve_capacities(points, count, 160, levels, 3);
                for (size_t i = 0; i < 3; i++) {
                        double truth = i < 2 ? capacities[i] : lasts[run];
                        assert_within((double)levels[i].capacity_bytes, truth, 0.1);
                }
        }
        /* If the next latency is unknown, the plateau's capacity stays. */
        const struct latency_point flat[] = {{16 * KIB, 1, 0}, {32 * KIB, 1, 0}};
        struct plateau only = {20 * KIB, 1, 0};
        curve_capacities(flat, 2, NAN, &only, 1);
        assert_int_equal(only.capacity_bytes, 20 * KIB);
}

/* A neighbour on the same core takes a part of L2: its second latency is no level. */
TEST(a_part_of_a_level_is_no_level)
{
        enum { KIB = 1 << 10, MIB = 1 << 20 };
        const uint64_t reports[] = {32 * KIB, MIB, 32 * MIB};
        struct plateau found[] = {{27 * KIB, 1.1, 0},
                                  {300 * KIB, 3.8, 0},
                                  {860 * KIB, 5.4, 0},
                                  {4 * MIB, 14, 0},
                                  {256 * MIB, 168, 0}};
        assert_int_equal(curve_merge_plateaus(found, 5, reports, 3), 4);
        assert_true(found[1].ns == 3.8 && found[1].capacity_bytes == 860 * KIB);
        assert_true(found[2].ns == 14 && found[3].ns == 168);
        /* If the system reports nothing, each plateau stays. */
        assert_int_equal(curve_merge_plateaus(found, 4, reports, 0), 4);
        assert_int_equal(curve_merge_plateaus(found, 0, reports, 3), 0);
}

/* Of two neighbouring points the one with less load was disturbed: the knee is before. */
TEST(noise_does_not_move_the_knee)
{
        struct load_point points[] = {{32, 240, 240},
                                      {2, 160, 160},
                                      {30, 260, 260},
                                      {31, 190, 190},
                                      {14, 170, 170}};
        double knee = curve_knee_gbs(points, 5, 160, 1.25); /* at 200 ns */
        assert_true(points[2].ns == 225 && points[3].ns == 225);
        assert_true(fabs(knee - (14 + 16 * 30.0 / 55)) < 1e-9);
        /* A point disturbed below the knee makes no second knee. */
        struct load_point lifted[] = {
            {2, 160, 160}, {8, 220, 220}, {14, 165, 165}, {30, 180, 180}};
        assert_true(isnan(curve_knee_gbs(lifted, 4, 160, 1.25)));
}

TEST(knee_lies_where_latency_grew_by_a_quarter)
{
        /* A single queue: idle / (1 - load / peak) is 1.25 at a fifth of the peak. */
        struct load_point points[10];
        for (size_t i = 0; i < 10; i++) {
                double gbs = 50.0 - 5.0 * (double)i - 1;
                points[i] = (struct load_point){gbs, 80 / (1 - gbs / 50),
                                                3 * 80 / (1 - gbs / 50)};
        }
        double knee = curve_knee_gbs(points, 10, 80, 1.25);
        double lmrl = curve_lmrl_at(points, 10, knee);
        assert_true(fabs(lmrl - 3 * 80 * 1.25) < 1e-6); /* 3 GHz: in step with the time */
        assert_true(isnan(curve_lmrl_at(points, 10, 60)));
        assert_true(fabs(knee - 10) < 0.5);
        assert_true(isnan(curve_knee_gbs(points, 2, 80, 1.25))); /* 4 and 9 GB/s */
}

TEST(saturation_needs_a_flat_end)
{
        const struct threads_gbs saturates[] = {
            {1, 10}, {2, 20}, {4, 29}, {6, 30}, {9, 30}};
        const struct threads_gbs grows[] = {{1, 10}, {2, 20}, {4, 39}, {8, 70}};
        assert_int_equal(curve_saturating_threads(saturates, 5, 0.95), 4);
        assert_int_equal(curve_saturating_threads(grows, 4, 0.95), 0);
        assert_int_equal(curve_saturating_threads(grows, 1, 0.95), 0);
}

/* ---- kernels ---- */

static struct kernel_parameters parameters_of(const struct kernel *kernel,
                                              uint64_t size_bytes)
{
        struct kernel_parameters parameters = kernel->defaults;
        if (parameters.threads == 0)
                parameters.threads = 1;
        if (size_bytes)
                parameters.size_bytes = size_bytes;
        parameters.node = -1;
        parameters.passes = 1;
        return parameters;
}

/* Follows the chain: every element once, then the first again; returns how many. */
static size_t walk_chain(struct kernel_parameters *parameters, size_t *sequential_steps)
{
        struct kernel_share share = {.parameters = parameters};
        assert_int_equal(kernel_chase.prepare(&share, &diag), 0);
        size_t elements = parameters->size_bytes / parameters->stride_bytes, steps = 0;
        char *seen = calloc(elements, 1), *at = share.position;
        *sequential_steps = 0;
        do {
                size_t element =
                    (size_t)(at - (char *)share.buffer.addr) / parameters->stride_bytes;
                assert_true(element < elements && !seen[element]);
                seen[element] = 1;
                char *next = *(void **)at;
                *sequential_steps += next == at + parameters->stride_bytes;
                at = next;
                steps++;
        } while (at != share.position);
        free(seen);
        buffer_unmap(&share.buffer);
        return steps;
}

TEST(chase_visits_every_element_once)
{
        size_t sequential_steps;
        struct kernel_parameters parameters = parameters_of(&kernel_chase, 1 << 20);
        assert_int_equal(walk_chain(&parameters, &sequential_steps), (1 << 20) / 64);
        assert_true(sequential_steps < 100); /* random: about one */
        parameters.sequential = true;
        assert_int_equal(walk_chain(&parameters, &sequential_steps), (1 << 20) / 64);
        assert_int_equal(sequential_steps, (1 << 20) / 64 - 1);
        parameters.sequential = false;
        parameters.block_bytes = 4096;
        parameters.stride_bytes = 128;
        assert_int_equal(walk_chain(&parameters, &sequential_steps), (1 << 20) / 128);
}

TEST(a_pass_of_the_chase_ends_where_it_began)
{
        struct kernel_parameters parameters = parameters_of(&kernel_chase, 64 * 1000);
        struct kernel_share share = {.parameters = &parameters};
        for (int variant = 0; variant < 3; variant++) {
                parameters.independent_multiplications = variant == 1 ? 24 : 0;
                parameters.dependent_multiplications = variant == 2 ? 24 : 0;
                assert_int_equal(kernel_chase.prepare(&share, &diag), 0);
                void *begin = share.position;
                kernel_chase.run(&share, 3);
                assert_ptr_equal(share.position, begin);
                chase_steps(&share, 1);
                assert_ptr_equal(share.position, *(void **)begin);
                buffer_unmap(&share.buffer);
        }
}

/* Every kernel, small, on two threads. */
TEST(every_kernel_runs)
{
        for (size_t i = 0; kernels[i]; i++) {
                struct measurement rounds[2];
                struct kernel_parameters parameters = parameters_of(
                    kernels[i], kernels[i]->takes & TAKES_SIZE ? 200000 : 0);
                parameters.threads = 2;
                int rc = measure(kernels[i], &parameters, &cpus, rounds, 2, &diag);
                if (rc != 0)
                        fail_msg("%s: %s", kernels[i]->name, diag.text);
                assert_true(rounds[0].seconds > 0 && rounds[1].seconds > 0);
                assert_true(rounds[0].tsc_ticks > 0);
        }
}

enum { SPIN_NS = 500000 };

static int prepare_nothing(struct kernel_share *share, struct diag *error)
{
        return 0;
}

/* Uses SPIN_NS of CPU time a pass, in any wall time. */
static void spin(struct kernel_share *share, uint64_t passes)
{
        struct timespec now;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        int64_t end =
            now.tv_sec * INT64_C(1000000000) + now.tv_nsec + SPIN_NS * (int64_t)passes;
        do
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        while (now.tv_sec * INT64_C(1000000000) + now.tv_nsec < end);
}

static void count_nothing(const struct kernel_parameters *parameters,
                          struct kernel_counts *counts)
{
        *counts = (struct kernel_counts){0};
}

/* Not once for each thread: the data of all threads lies in one mapping. */
TEST(huge_pages_are_counted_once)
{
        struct kernel_parameters parameters = kernel_load.defaults;
        struct measurement round;
        parameters.threads = 4;
        parameters.size_bytes = 4 << 22;
        parameters.passes = 1;
        assert_ok(measure(&kernel_load, &parameters, &cpus, &round, 1, &diag));
        assert_true(round.huge_bytes <= (int64_t)parameters.size_bytes);
        if (round.huge_bytes <= 0)
                skip_test("huge pages were not counted: there are none");
}

/* Of this machine, without an end: lists as of new_survey. */
static struct survey survey_of(unsigned sweep_visits)
{
        struct survey survey = new_survey();
        survey.cpus = cpus;
        survey.sweep_visits = sweep_visits;
        survey.visits_min = 4;
        survey.end_seconds = survey.over_seconds = HUGE_VAL;
        survey.core_ghz = 1;
        return survey;
}

/* As in all parts: figures have an error; impossible figures are left out by name. */
TEST(visits_to_arithmetic_count)
{
        struct survey survey = survey_of(4);
        survey.seconds = 1;
        void *arithmetic = calloc(1, survey_arithmetic.state_bytes);
        assert_non_null(arithmetic);
        assert_int_equal(survey_arithmetic.sweep(&survey, arithmetic, &diag), 0);
        json_t *measured = survey_arithmetic.result(&survey, arithmetic);
        size_t figures = json_object_size(measured) - 1 +
                         json_array_size(survey.drifted) +
                         json_array_size(survey.unvisited);
        assert_true(figures >= 8);
        assert_int_equal(survey.visits, 4 * figures);
        assert_int_equal(survey.rounds, 32 * survey.visits);
        assert_int_equal(survey.estimates, figures);
        assert_true(json_is_real(json_object_get(measured, "error")));

        json_array_clear(survey.drifted);
        json_array_clear(survey.unvisited);
        survey.core_ghz = 0;
        json_t *impossible = survey_arithmetic.result(&survey, arithmetic);
        assert_int_equal(json_object_size(impossible), 1);
        assert_int_equal(json_array_size(survey.unvisited), figures);
        json_decref(measured);
        json_decref(impossible);
        free_survey(&survey);
        free(arithmetic);
}

/* In every other visit, neighbours slow each load from 16 to at least 20 ns. Ten loads of
 * 160 ns overlap on this core. The difference between visits becomes an error. */
TEST(misses_at_once_are_of_the_shorter_visits)
{
        struct survey survey = new_survey();
        survey.idle = estimate_of((double[]){160, 160, 160, 160}, 4);
        struct series shared = {0};
        json_t *core = json_object();
        for (size_t i = 0; i < 12; i++)
                series_add(&shared, i % 2 ? 20 + (double)i : 16 + 0.01 * (double)i,
                           UNDISTURBED);
        survey_misses_at_once(&survey, &shared, core);
        assert_true(json_real_value(json_object_get(core, "outstanding_misses")) == 10);
        assert_within(json_real_value(json_object_get(core, "gather_ns")), 16, 0.01);
        assert_true(survey.worst_error > 0);
        assert_string_equal(survey.worst_figure, "the misses outstanding at once");

        json_decref(core);
        free_survey(&survey);
}

/* A full sweep visits both chases of the last point eight times, all others once. */
TEST(walks_are_of_eight_mappings_a_sweep)
{
        enum { POINTS = 25 };
        for (int quick = 0; quick < 2; quick++) {
                struct survey survey = survey_of(1);
                survey.quick = quick;
                survey.memory_bytes = UINT64_C(512) << 20;
                survey.round_seconds = 0.001;
                void *tlb = calloc(1, survey_tlb.state_bytes);
                assert_non_null(tlb);
                assert_int_equal(survey_tlb.open(&survey, tlb, &diag), 0);
                assert_int_equal(survey_tlb.sweep(&survey, tlb, &diag), 0);
                json_t *result = survey_tlb.result(&survey, tlb);
                assert_int_equal(survey.visits, 2 * (POINTS - 1 + (quick ? 1 : 8)));
                json_decref(result);
                free_survey(&survey);
                free(tlb);
        }
}

/* Without measured branches, the note names the missing figure. */
TEST(a_wrong_prediction_without_visits_is_left_out_by_name)
{
        struct survey survey = new_survey();
        void *core = calloc(1, survey_core.state_bytes);
        assert_non_null(core);
        json_t *result = survey_core.result(&survey, core);
        assert_null(json_object_get(result, "mispredict_cycles"));
        char *unvisited = json_dumps(survey.unvisited, 0);
        assert_non_null(strstr(unvisited, "\"what a wrong prediction costs\""));
        free(unvisited);
        json_decref(result);
        free_survey(&survey);
        free(core);
}

/* Two buffers that differ only in their pages: the first has huge pages. */
TEST(huge_pages_are_counted_where_they_are)
{
        enum { BYTES = 16 << 20 };
        struct buffer huge, small;
        assert_ok(buffer_map(BYTES, PAGES_HUGE, -1, &huge, &diag));
        assert_ok(buffer_map(BYTES, PAGES_HUGE, -1, &small, &diag));
        memset(huge.addr, 1, BYTES);
        assert_ok(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
        memset(small.addr, 1, BYTES);
        int64_t of_huge = buffer_huge_bytes(&huge), of_small = buffer_huge_bytes(&small);
        assert_ok(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0));
        buffer_unmap(&huge);
        buffer_unmap(&small);
        assert_true(of_huge <= BYTES);
        assert_true(of_small <= 0);
        if (of_huge <= 0)
                skip_test("huge pages were not counted: there are none");
}

/* Two threads on one CPU cannot take less than the time of both. */
TEST(a_round_is_the_time_of_all_threads)
{
        enum { ROUNDS = 20 };
        static const struct kernel spinner = {.name = "spin",
                                              .prepare = prepare_nothing,
                                              .run = spin,
                                              .count = count_nothing};
        struct kernel_parameters parameters = {.threads = 2, .passes = 1, .node = -1};
        struct measurement rounds[ROUNDS];
        cpu_set_t all;
        assert_ok(sched_getaffinity(0, sizeof(all), &all));
        assert_ok(cpu_pin(cpus.cpus[0], &diag));
        cpus.count = 1; /* pins no thread elsewhere */
        assert_ok(measure(&spinner, &parameters, &cpus, rounds, ROUNDS, &diag));
        assert_ok(sched_setaffinity(0, sizeof(all), &all));
        for (size_t i = 0; i < ROUNDS; i++)
                assert_true(rounds[i].seconds * 1e9 >= 2 * SPIN_NS);
}

enum { WINDOWS = 4, WINDOW_ROUNDS = 6, WINDOW_DATA = 1 << 20 };

static struct {
        const char *data;
        uint64_t begins[1 + WINDOW_ROUNDS], bytes[1 + WINDOW_ROUNDS]; /* of each run */
        size_t runs;
} windows_seen;

static int map_data(struct kernel_share *share, struct diag *error)
{
        int rc = buffer_map(WINDOW_DATA, PAGES_SMALL, -1, &share->buffer, error);
        windows_seen.data = share->buffer.addr;
        return rc;
}

static void note_window(struct kernel_share *share, uint64_t passes)
{
        windows_seen.begins[windows_seen.runs] =
            (uint64_t)((const char *)share->buffer.addr - windows_seen.data);
        windows_seen.bytes[windows_seen.runs++] = kernel_part_bytes(share->parameters);
}

/* All of the data once, to warm up, and then as many equal parts as asked for. */
TEST(rounds_go_over_one_window_after_the_other)
{
        static const struct kernel noter = {.name = "note",
                                            .prepare = map_data,
                                            .run = note_window,
                                            .count = count_nothing};
        struct kernel_parameters parameters = {.size_bytes = WINDOW_DATA,
                                               .windows = WINDOWS,
                                               .threads = 1,
                                               .passes = 1,
                                               .node = -1};
        struct measurement rounds[WINDOW_ROUNDS];
        assert_ok(measure(&noter, &parameters, &cpus, rounds, WINDOW_ROUNDS, &diag));
        assert_int_equal(windows_seen.runs, 1 + WINDOW_ROUNDS);
        assert_int_equal(windows_seen.bytes[0], WINDOW_DATA);
        uint64_t window = windows_seen.bytes[1];
        assert_true(window > 0.95 * WINDOW_DATA / WINDOWS &&
                    window <= WINDOW_DATA / WINDOWS);
        for (size_t i = 0; i < WINDOW_ROUNDS; i++) {
                assert_int_equal(windows_seen.bytes[1 + i], window);
                assert_int_equal(windows_seen.begins[1 + i], i % WINDOWS * window);
        }
        parameters.windows = WINDOW_DATA;
        assert_int_equal(measure(&noter, &parameters, &cpus, rounds, 1, &diag), -EINVAL);
}

TEST(sharing_adds_are_all_done)
{
        uint64_t line[8] __attribute__((aligned(64))) = {0};
        struct kernel_parameters parameters = parameters_of(&kernel_false_sharing, 0);
        struct kernel_share share = {
            .parameters = &parameters, .thread = 1, .common = line};
        kernel_false_sharing.run(&share, 2);
        kernel_true_sharing.run(&share, 1);
        assert_int_equal(line[1], 2000);
        assert_int_equal(line[0], 1000);
}

TEST(what_cannot_be_is_refused)
{
        struct measurement round;
        struct kernel_parameters parameters = parameters_of(&kernel_chase, 64);
        assert_int_equal(measure(&kernel_chase, &parameters, &cpus, &round, 1, &diag),
                         -EINVAL);
        parameters = parameters_of(&kernel_chase, UINT64_MAX / 2);
        parameters.stride_bytes = 1 << 12;
        assert_true(measure(&kernel_chase, &parameters, &cpus, &round, 1, &diag) < 0);
        parameters = parameters_of(&kernel_load, 0);
        parameters.width_bits = 96;
        assert_int_equal(measure(&kernel_load, &parameters, &cpus, &round, 1, &diag),
                         -EINVAL);
        assert_non_null(strstr(diag.text, "96 bits"));
}

/* ---- a load beside a chase ---- */

static struct kernel_parameters two_readers(void)
{
        struct kernel_parameters parameters = kernel_memread.defaults;
        parameters.threads = 2;
        parameters.node = -1;
        parameters.size_bytes = 1 << 20;
        parameters.windows = 3;
        return parameters;
}

/* As in a calibration: it runs, rests, and runs again on other CPUs. */
TEST(a_load_rests_and_runs_again)
{
        struct kernel_parameters parameters = two_readers();
        struct load *load;
        const int first = cpus.cpus[0], last = cpus.cpus[cpus.count - 1];
        const int here[] = {first, last}, there[] = {last, first};
        assert_ok(load_open(&kernel_memread, &parameters, here, &load, &diag));
        assert_int_equal(load_thread_count(load), 2);
        for (int run = 0; run < 4; run++) {
                double seconds = load_cpu_seconds(load);
                assert_ok(load_run(load, 100, run % 2 ? there : here, &diag));
                assert_true(load_cpu_seconds(load) > seconds);
                assert_true(load_rest(load) >= 0);
        }
        load_close(load);
}

/* One of the threads cannot run where it should; the other one does, and ends. */
TEST(a_load_that_cannot_run_says_so)
{
        enum { NO_CPU = 1 << 15 };
        struct kernel_parameters parameters = two_readers();
        struct load *load;
        const int here[] = {cpus.cpus[0], cpus.cpus[0]}, wrong[] = {here[0], NO_CPU};
        assert_ok(load_open(&kernel_memread, &parameters, here, &load, &diag));
        assert_int_equal(load_run(load, 0, wrong, &diag), -EINVAL);
        assert_non_null(strstr(diag.text, "32768"));
        load_close(load);
        assert_int_equal(load_open(&kernel_memread, &parameters, wrong, &load, &diag),
                         -EINVAL);
        assert_null(load);
}
