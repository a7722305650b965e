/* SPDX-License-Identifier: MIT */
/* Estimated gains of loads whose waits are known by construction. */
#include "analysis_test.h"
#include "gain.h"
#include "prefetch_distance.h"
#include "unit_test.h"

static const struct machine_facts machine = {
    .l1d_latency_cycles = 4,
    .l1d_set_interval_l2_cycles = 8,
    .l1d_set_interval_l3_cycles = 16,
    .l2_latency_cycles = 14,
    .l3_latency_cycles = 70,
    .stlb_latency_cycles = 7,
    .page_walk_cycles = 30,
    .page_walkers = 2,
    .lfb_entries = 12,
    .hitm_latency_cycles = 90,
    .remote_dram_latency_cycles = 300,
    .remote_cache_latency_cycles = 200,
    .dram_latency_cycles = 190,
};

static struct sample_facts load(enum level level, int64_t latency, int64_t held_up)
{
        return (struct sample_facts){.level = level,
                                     .latency_cycles = latency,
                                     .retire_latency_cycles = held_up,
                                     .bandwidth_short = ANSWER_NO};
}

static double gain(const struct sample_facts *sample, enum gain_fix fix)
{
        return gain_of_sample(sample, &machine).cycles[fix];
}

struct gain_case {
        enum gain_fix fix;
        double cycles;
};

/* The gains of SAMPLE by several fixes; the rows are struct gain_case. */
#define expect_gains(sample, tolerance, ...)                                             \
        do {                                                                             \
                const struct gain_case rows[] = {__VA_ARGS__};                           \
                for (size_t i = 0; i < LENGTH(rows); i++)                                \
                        assert_near(gain(sample, rows[i].fix), rows[i].cycles,           \
                                    tolerance);                                          \
        } while (0)

/* A pointer chase: with DRAM as near as L3 a load takes 70 instead of 190 cycles. */
TEST(a_dependent_load_gains_what_is_nearer)
{
        struct sample_facts sample = load(LEVEL_DRAM, 190, 186);
        expect_gains(&sample, 0, {GAIN_DRAM_LATENCY, 120}, {GAIN_MEMORY, 186},
                     {GAIN_IN_TIME, 186}, {GAIN_L3_LATENCY, 0});
        sample = load(LEVEL_L3, 70, 66);
        assert_near(gain(&sample, GAIN_L3_LATENCY), 56, 0);
        sample = load(LEVEL_L2, 14, 10);
        assert_near(gain(&sample, GAIN_L2), 10, 0);
}

TEST(a_walk_is_gained_beside_the_line)
{
        struct sample_facts sample = load(LEVEL_L3, 100, 96);
        sample.tlb_missed = true;
        expect_gains(&sample, 0, {GAIN_TRANSLATION, 30}, {GAIN_L3_LATENCY, 56});
        sample.tlb_missed = false;
        sample.tlb_second = true;
        sample.latency_cycles = 77;
        assert_near(gain(&sample, GAIN_TRANSLATION), 7, 0);
}

/* Other work hid all of the load but 10 cycles: no fix gains more. */
TEST(hidden_latency_gains_nothing)
{
        struct sample_facts sample = load(LEVEL_DRAM, 190, 10);
        assert_near(gain(&sample, GAIN_DRAM_LATENCY), 10, 0);
        sample.retire_latency_cycles = 0;
        assert_near(gain(&sample, GAIN_MEMORY), 0, 0);
}

TEST(where_bandwidth_is_short_latency_gains_nothing)
{
        struct sample_facts sample = load(LEVEL_DRAM, 600, 100);
        sample.bandwidth_short = ANSWER_YES;
        expect_gains(&sample, 0, {GAIN_DRAM_LATENCY, 0}, {GAIN_IN_TIME, 0},
                     {GAIN_DRAM_BANDWIDTH, 100}, {GAIN_BUFFERS, 0});
        sample.level = LEVEL_L3;
        assert_near(gain(&sample, GAIN_DRAM_BANDWIDTH), 0, 0);
}

/* Two walks at a time take longer than twelve lines of L3. */
TEST(loads_that_queue_for_walkers_gain_by_translation)
{
        struct sample_facts sample = load(LEVEL_L3, 300, 30);
        sample.tlb_missed = true;
        expect_gains(&sample, 0, {GAIN_TRANSLATION, 30}, {GAIN_BUFFERS, 0},
                     {GAIN_L3_LATENCY, 0});
        sample.conflict_sets = 2; /* as columns of a matrix have: 8 cycles a line */
        const double queued = 200. / 300;
        assert_near(gain(&sample, GAIN_TRANSLATION), 30 * (1 - queued * 8 / 15), 1e-9);
        assert_near(gain(&sample, GAIN_SETS), 0, 0);
        /* With more buffers all would be in flight, 300 / 70 as many as are now. */
        sample = load(LEVEL_L3, 300, 30);
        assert_near(gain(&sample, GAIN_BUFFERS), 30 * (1 - 70. / 300), 1e-9);
}

/* One set takes a line of L3 in 16 cycles, two walkers end a walk in 15. */
TEST(loads_that_queue_for_one_set_gain_nothing_by_translation)
{
        struct sample_facts sample = load(LEVEL_L3, 1300, 15);
        sample.tlb_missed = true;
        sample.conflict_sets = 1;
        const double queued = 1200. / 1300;
        assert_near(gain(&sample, GAIN_SETS), 15 * (1 - queued * 15 / 16), 1e-9);
        expect_gains(&sample, 0, {GAIN_TRANSLATION, 0}, {GAIN_L3_LATENCY, 0});
        sample.level = LEVEL_L2; /* in 8 cycles */
        assert_near(gain(&sample, GAIN_SETS), 0, 0);
        assert_true(gain(&sample, GAIN_TRANSLATION) > 5);
}

/* With all buffers in use a line comes every latency / buffers cycles (Little's law). */
TEST(queued_loads_gain_in_proportion)
{
        struct sample_facts sample = load(LEVEL_DRAM, 190000, 19);
        assert_near(gain(&sample, GAIN_DRAM_LATENCY), 12, 0.01);
        assert_near(gain(&sample, GAIN_BUFFERS), 19, 0.02);
        sample.interval_path_full = true;
        assert_near(gain(&sample, GAIN_BUFFERS), 0, 0);
        assert_near(gain(&sample, GAIN_L3_PATH), 19, 0.01);
        expect_gains(&sample, 0, {GAIN_DRAM_LATENCY, 0}, {GAIN_IN_TIME, 0});
}

/* DRAM moves lines for three quarters of the time, which nearer DRAM would not shorten.
 */
TEST(the_time_that_dram_needs_for_the_lines_stays)
{
        struct sample_facts sample = load(LEVEL_DRAM, 190, 186);
        sample.bandwidth_use = 0.75;
        expect_gains(&sample, 0, {GAIN_DRAM_LATENCY, 186 * 0.25}, {GAIN_MEMORY, 186});
        sample.bandwidth_use = 1.25;
        assert_near(gain(&sample, GAIN_IN_TIME), 0, 0);
}

/* A walker takes a load every 15 cycles. A full path that could take one every 6.4 is not
 * the limit; one that takes one every 32 is, and walkers are the next. */
TEST(walkers_and_the_path_limit_each_other)
{
        struct machine_facts pathed = machine;
        struct sample_facts sample = load(LEVEL_L3, 100000, 15);
        sample.tlb_missed = sample.interval_path_full = true;
        pathed.l3_bytes_per_cycle = 10;
        struct gain_parts parts = gain_of_sample(&sample, &pathed);
        assert_near(parts.cycles[GAIN_L3_PATH], 0, 0.01);
        assert_near(parts.cycles[GAIN_TRANSLATION], 15 - 6.4, 0.05);
        pathed.l3_bytes_per_cycle = 2;
        sample.retire_latency_cycles = 32;
        parts = gain_of_sample(&sample, &pathed);
        assert_near(parts.cycles[GAIN_L3_PATH], 32 - 15, 0.05);
        assert_near(parts.cycles[GAIN_TRANSLATION], 0, 0.05);
}

/* Neither more buffers nor an earlier request make a set of L1 take its lines sooner. */
TEST(lines_that_wait_for_their_set_gain_by_other_sets)
{
        struct sample_facts sample = load(LEVEL_L2, 200, 190);
        assert_true(gain(&sample, GAIN_BUFFERS) > 0);
        sample.interval_sets_crowd = true; /* others hold the buffers and wait so */
        expect_gains(&sample, 0, {GAIN_BUFFERS, 0}, {GAIN_SETS, 200 - 14});
        sample.interval_sets_crowd = false;
        sample.conflict_sets = 1;
        expect_gains(&sample, 0, {GAIN_BUFFERS, 0}, {GAIN_IN_TIME, 0}, {GAIN_L2, 0});
        assert_near(gain(&sample, GAIN_SETS), 186, 0.01); /* all but the time from L2 */
        sample.level = LEVEL_LFB;
        assert_near(gain(&sample, GAIN_IN_TIME), 0, 0);
        assert_near(gain(&sample, GAIN_SETS), 190, 0.01);
}

TEST(other_cores_and_nodes_have_fixes_of_their_own)
{
        struct sample_facts sample = load(LEVEL_L3, 90, 86);
        sample.hit_modified = true;
        expect_gains(&sample, 0, {GAIN_SHARING, 86}, {GAIN_L3_LATENCY, 0});
        sample.latency_cycles = 180; /* another core's turn comes first, in any set */
        sample.retire_latency_cycles = 176;
        sample.conflict_sets = 1;
        expect_gains(&sample, 0, {GAIN_SETS, 0}, {GAIN_SHARING, 176});
        sample = load(LEVEL_L3, 90, 86);
        sample.hit_modified = true;
        assert_near(gain(&sample, GAIN_IN_TIME), 0, 0);
        sample = load(LEVEL_REMOTE_DRAM, 300, 296);
        expect_gains(&sample, 0, {GAIN_REMOTE, 110}, {GAIN_DRAM_LATENCY, 120});
}

/* An outstanding line gains like other lines of the same origin. */
TEST(a_line_on_its_way_is_as_its_origin)
{
        struct sample_facts sample = load(LEVEL_LFB, 100, 100);
        sample.line_origin = ORIGIN_DRAM;
        assert_near(gain(&sample, GAIN_DRAM_LATENCY), 100, 0);
        sample.bandwidth_short = ANSWER_YES;
        expect_gains(&sample, 0, {GAIN_DRAM_LATENCY, 0}, {GAIN_DRAM_BANDWIDTH, 100});
        sample.line_origin = ORIGIN_UNKNOWN;
        expect_gains(&sample, 0, {GAIN_DRAM_BANDWIDTH, 0}, {GAIN_MEMORY, 96});
}

/* 100 samples of 1000 loads; half save 50 cycles. Page faults: 1 of 11 million. */
TEST(the_share_is_of_all_loads_and_faults)
{
        struct gain_tally tally = {.fault_cycles = 1e6};
        struct gain_parts parts = {{0}};
        const struct tally whole = {
            .retirements = 100, .retire_cycles = 5000, .retire_squared = 5e5};
        parts.cycles[GAIN_MEMORY] = parts.cycles[GAIN_L2] = 50;
        for (int i = 0; i < 50; i++)
                gain_add(&tally, &parts);
        struct share share = gain_share(&tally, GAIN_L2, &whole, 1000, 1e7);
        assert_near(share.value, 0.25, 1e-12);
        assert_true(share.low < 0.25 && share.high > 0.25);
        share = gain_share(&tally, GAIN_MEMORY, &whole, 1000, 1e7);
        assert_near(share.value, 0.35, 1e-12);
        share = gain_share(&tally, GAIN_FAULTS, &whole, 1000, 1e7);
        assert_near(share.value, 0.1, 1e-12);
}

/* A core of four instructions a cycle takes 2.5 cycles for ten. */
TEST(a_prefetch_is_a_latency_ahead)
{
        const struct machine_facts core = {
            .issue_width = 4, .line_bytes = 64, .l1d_bytes = 32768};
        assert_int_equal(prefetch_distance(200, 10, &core), 80);
        assert_int_equal(prefetch_distance(201, 10, &core), 81);
        assert_int_equal(prefetch_distance(200, 1000, &core), 1);
        assert_int_equal(prefetch_distance(2000, 4, &core), 256); /* half of L1 */
        assert_int_equal(prefetch_distance(200, 0, &core), 0);
        assert_int_equal(prefetch_distance(200, 10, &machine), 0);
        assert_true(prefetch_is_possible("index"));
        assert_false(prefetch_is_possible("chain"));
        assert_false(prefetch_is_possible("no-loop"));
}
