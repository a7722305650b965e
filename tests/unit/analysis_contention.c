/* SPDX-License-Identifier: MIT */
/* The rules for intervals, at their boundaries and on loads of known construction. */
#include "analysis_test.h"
#include "interval_samples.h"
#include "rule_machine.h"
#include "thresholds.h"
#include "unit_test.h"

enum { IDLE = 200, L3 = 60 }; /* latencies of the machine, cycles */

static const bool all_known[CONCEPT_COUNT] = {true,  true, true, true, true,
                                              false, true, true, true};

/* An interval of 1 ms. Loads fetch LINES lines from DRAM, each after LATENCY cycles. HITS
 * loads a line hit its fill buffer. Stores fetch and write back WRITTEN lines. */
static struct interval stream(double lines, double latency, double hits, double written)
{
        struct interval i = {.start_ns = 0, .end_ns = 1000000};
        i.gained[CONCEPT_CYCLES] = 8 * 2e6; /* eight cores */
        i.gained[CONCEPT_INSTRUCTIONS] = 1e6;
        i.gained[CONCEPT_PENDING] = lines * latency;
        i.gained[CONCEPT_L1_MISS] = lines;
        i.gained[CONCEPT_FB_HIT] = lines * hits;
        i.gained[CONCEPT_DRAM_READ] = 64 * (lines + written);
        i.gained[CONCEPT_DRAM_WRITE] = 64 * written;
        return i;
}

/* Cache lines in 1 ms at GBS GB/s. */
static double lines_of(double gbs)
{
        return gbs * 1e6 / 64;
}

/* On a machine with MEASURED facts, where memory that is idle has IDLE_LMRL. */
static enum answer contended_on(const struct machine_facts *measured, double idle_lmrl,
                                struct interval_metrics m)
{
        const struct thresholds thresholds = thresholds_of_machine(measured);
        return interval_contended(&m, idle_lmrl, &thresholds);
}

static enum bound bound_on(const struct machine_facts *measured, enum answer contended,
                           struct interval_metrics m)
{
        const struct thresholds thresholds = thresholds_of_machine(measured);
        return interval_bound(&m, contended, &thresholds);
}

static enum answer judge_on(const struct machine_facts *measured,
                            const struct interval *interval,
                            const bool known[CONCEPT_COUNT])
{
        return contended_on(measured, uncontended_lmrl(interval, known, measured),
                            interval_metrics(interval, known, measured->clock_mhz));
}

static enum answer judge(const struct interval *interval, const bool known[CONCEPT_COUNT])
{
        return judge_on(&machine, interval, known);
}

/* Loads at GBS GB/s, LATENCY_CYCLES each, with HITS fill buffer hits a line. */
static enum answer judge_loads(double gbs, double latency_cycles, double hits)
{
        const struct interval interval = stream(lines_of(gbs), latency_cycles, hits, 0);
        return judge(&interval, all_known);
}

/* From three quarters of the peak on, only an idle latency is no shortage. */
TEST(intervals_are_judged_by_bandwidth_and_latency)
{
        const struct {
                double gbs, times_idle, hits;
                enum answer answer;
        } cases[] = {{74, 1.1, 0, ANSWER_NO},
                     {76, 1.1, 0, ANSWER_UNKNOWN},
                     {76, 0.9, 0, ANSWER_NO},
                     {76, 1.3, 0, ANSWER_YES},
                     {91, 1.1, 0, ANSWER_NO},
                     /* The factor is one and a quarter. */
                     {90, 1.24, 0, ANSWER_NO},
                     {90, 1.26, 0, ANSWER_YES},
                     /* Below half the bandwidth nothing is contended. */
                     {49.9, 3, 0, ANSWER_NO},
                     {50.1, 3, 0, ANSWER_YES},
                     /* Eight loads of each line: LMRL is an eighth of its latency. */
                     {90, 1, 7, ANSWER_NO},
                     {90, 2, 7, ANSWER_YES}};
        for (size_t i = 0; i < LENGTH(cases); i++)
                assert_int_equal(
                    judge_loads(cases[i].gbs, cases[i].times_idle * IDLE, cases[i].hits),
                    cases[i].answer);
        const struct interval slow = stream(lines_of(90), 2 * IDLE, 7, 0);
        assert_true(interval_metrics(&slow, all_known, 2000).lmrl_cycles < IDLE);
}

/* A calibration that counted: its threshold, and its idle LMRL. */
static enum answer judge_measured(double idle, double threshold, double lmrl, double hits)
{
        struct machine_facts measured = machine;
        measured.idle_lmrl_cycles = idle;
        measured.lmrl_threshold_cycles = threshold;
        const struct interval interval = stream(lines_of(90), lmrl, hits, 0);
        return judge_on(&measured, &interval, all_known);
}

TEST(a_measured_threshold_counts_before_the_rule)
{
        enum { BELOW = 265, THRESHOLD = 270, ABOVE = 275, MEASURED_IDLE = 190 };
        assert_int_equal(judge_measured(MEASURED_IDLE, THRESHOLD, BELOW, 0), ANSWER_NO);
        assert_int_equal(judge_measured(MEASURED_IDLE, THRESHOLD, ABOVE, 0), ANSWER_YES);
        /* Independent of the mix of loads. */
        assert_int_equal(judge_measured(MEASURED_IDLE, THRESHOLD, BELOW, 7), ANSWER_NO);
        assert_int_equal(judge_measured(MEASURED_IDLE, THRESHOLD, ABOVE, 7), ANSWER_YES);
        /* Also for a threshold below the rule's 250. */
        assert_int_equal(judge_measured(MEASURED_IDLE, 225, 230, 0), ANSWER_YES);
        assert_int_equal(judge_measured(MEASURED_IDLE, 225, 220, 0), ANSWER_NO);
}

/* A threshold within the noise of idle memory (H20), or at saturation, is ignored. */
TEST(an_absurd_threshold_does_not_count)
{
        static const double absurd[][2] = {{190, 191},  {190, 214}, {190, 150},
                                           {190, 1000}, {190, NAN}, {NAN, 230}};
        for (size_t i = 0; i < LENGTH(absurd); i++) {
                double idle = absurd[i][0], threshold = absurd[i][1];
                assert_int_equal(judge_measured(idle, threshold, 1.24 * IDLE, 0),
                                 ANSWER_NO);
                assert_int_equal(judge_measured(idle, threshold, 1.26 * IDLE, 0),
                                 ANSWER_YES);
        }
}

/* STREAM triad: two lines loaded for one written, which is fetched too. */
TEST(lines_fetched_for_stores_are_not_waited_for)
{
        double third = lines_of(90) / 4;
        struct interval idle = stream(2 * third, IDLE, 7, third);
        struct interval slow = stream(2 * third, 1.5 * IDLE, 7, third);
        assert_int_equal(judge(&idle, all_known), ANSWER_NO);
        assert_int_equal(judge(&slow, all_known), ANSWER_YES);
}

/* a[i] += 1: every line is loaded and written back. */
TEST(lines_loaded_and_written_are_waited_for)
{
        struct interval idle = stream(lines_of(45), IDLE, 7, 0);
        idle.gained[CONCEPT_DRAM_WRITE] = idle.gained[CONCEPT_DRAM_READ];
        struct interval slow = idle;
        slow.gained[CONCEPT_PENDING] *= 1.5;
        assert_int_equal(judge(&idle, all_known), ANSWER_NO);
        assert_int_equal(judge(&slow, all_known), ANSWER_YES);
}

/* A prefetcher that is in time: few misses, many lines, short waits. */
TEST(harmless_high_bandwidth_is_not_flagged)
{
        struct interval i = stream(lines_of(90), IDLE, 0, 0);
        double lines = i.gained[CONCEPT_L1_MISS];
        i.gained[CONCEPT_L1_MISS] = lines / 10;
        i.gained[CONCEPT_FB_HIT] = lines / 2;
        i.gained[CONCEPT_PENDING] = (lines / 10 + lines / 2) * IDLE / 2;
        assert_int_equal(judge(&i, all_known), ANSWER_NO);
}

TEST(hits_in_the_last_cache_are_not_taken_for_dram)
{
        struct interval i = stream(lines_of(60), IDLE, 0, 0);
        i.gained[CONCEPT_L1_MISS] *= 4;
        i.gained[CONCEPT_PENDING] += 3 * lines_of(60) * L3;
        assert_int_equal(judge(&i, all_known), ANSWER_NO);
}

TEST(a_knee_only_makes_the_limit_lower)
{
        struct machine_facts measured = machine;
        assert_true(thresholds_of_machine(&measured).bandwidth_gbs == 50);
        measured.dram_knee_gbs = 80;
        assert_true(thresholds_of_machine(&measured).bandwidth_gbs == 50);
        measured.dram_knee_gbs = 30;
        assert_true(thresholds_of_machine(&measured).bandwidth_gbs == 30);
}

/* Fewer cores than saturate the memory, below the knee: slow for another reason. */
TEST(too_few_cores_below_the_knee_are_not_contended)
{
        static const struct {
                double active_cores, write_gbs, knee_gbs;
                enum answer answer;
        } cases[] = {{3.9, 0, 80, ANSWER_NO},
                     {4, 0, 80, ANSWER_YES},
                     {3.9, 10, 80, ANSWER_YES},
                     {NAN, 0, 80, ANSWER_YES}, /* not counted: the rule does not hold */
                     {1, 0, NAN, ANSWER_YES}}; /* never reached: nothing is known */
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct machine_facts measured = machine;
                measured.saturating_cores = 4;
                measured.dram_knee_gbs = cases[i].knee_gbs;
                const struct interval_metrics m = {.read_gbs = 70,
                                                   .write_gbs = cases[i].write_gbs,
                                                   .miss_loads = 1e6,
                                                   .lmrl_cycles = 2 * IDLE,
                                                   .active_cores = cases[i].active_cores};
                assert_int_equal(contended_on(&measured, IDLE, m), cases[i].answer);
        }
}

TEST(without_a_needed_counter_the_answer_is_unknown)
{
        struct interval i = stream(lines_of(90), 3 * IDLE, 0, 0);
        bool known[CONCEPT_COUNT];
        memcpy(known, all_known, sizeof(known));
        known[CONCEPT_PENDING] = false;
        assert_int_equal(judge(&i, known), ANSWER_UNKNOWN);
        /* DRAM bytes are not needed: LMRL alone rises only when bandwidth is short. */
        known[CONCEPT_PENDING] = true;
        known[CONCEPT_DRAM_READ] = known[CONCEPT_DRAM_WRITE] = false;
        assert_int_equal(judge(&i, known), ANSWER_YES);
}

/* From Sapphire Rapids on, one event counts misses and fill buffer hits together. */
TEST(baseline_of_one_event_is_the_same)
{
        struct interval i = stream(lines_of(80), 600, 7, 0);
        bool known[CONCEPT_COUNT];
        memcpy(known, all_known, sizeof(known));
        double of_two = uncontended_lmrl(&i, known, &machine);
        i.gained[CONCEPT_L1_MISS_ANY] =
            i.gained[CONCEPT_L1_MISS] + i.gained[CONCEPT_FB_HIT];
        i.gained[CONCEPT_FB_HIT] = 0;
        known[CONCEPT_L1_MISS_ANY] = true;
        known[CONCEPT_FB_HIT] = false;
        assert_near(uncontended_lmrl(&i, known, &machine), of_two, 1e-9);
        assert_near(of_two, IDLE / 8.0, 1e-9); /* one line for eight loads */
}

/* Of four misses DRAM has one; three lines were requested beyond L2, so L3 has two. */
TEST(baseline_counts_lines_of_l2_as_such)
{
        struct interval i = {.gained = {[CONCEPT_L1_MISS] = 4000,
                                        [CONCEPT_OFFCORE] = 3000,
                                        [CONCEPT_DRAM_READ] = 1000 * LINE_BYTES}};
        bool known[CONCEPT_COUNT];
        memcpy(known, all_known, sizeof(known));
        known[CONCEPT_OFFCORE] = false;
        assert_near(uncontended_lmrl(&i, known, &machine), (IDLE + 3 * 60) / 4.0, 1e-9);
        known[CONCEPT_OFFCORE] = true;
        assert_near(uncontended_lmrl(&i, known, &machine), (IDLE + 2 * 60 + 14) / 4.0,
                    1e-9);
}

/* ---- bound ---- */

static enum bound bound_of(double used, double gbs, double fb_full, double pending,
                           double ipc, enum answer contended)
{
        const struct interval_metrics m = {.used_cores = used,
                                           .read_gbs = gbs,
                                           .write_gbs = 0,
                                           .fb_full_ratio = fb_full,
                                           .pending_ratio = pending,
                                           .instructions_per_cycle = ipc,
                                           .memory_stall_ratio = NAN,
                                           .bandwidth_stall_ratio = NAN};
        return bound_on(&machine, contended, m);
}

#define expect_bound(bound, ...) assert_int_equal(bound_of(__VA_ARGS__), bound)

static enum bound bound_by(struct interval_metrics m)
{
        return bound_on(&machine, ANSWER_NO, m);
}

TEST(buffers_are_short_from_a_twentieth_of_the_cycles_on)
{
        struct interval_metrics m = {.buffers_full_ratio = 0.05};
        assert_true(interval_lacks_buffers(&m));
        assert_false(interval_buffers_free(&m));
        m.buffers_full_ratio = 0.049;
        assert_false(interval_lacks_buffers(&m));
        assert_true(interval_buffers_free(&m));
        m.buffers_full_ratio = NAN; /* not counted */
        assert_false(interval_lacks_buffers(&m));
        assert_false(interval_buffers_free(&m));
        m.buffers_full_ratio = 0.24;
        assert_false(interval_buffers_full(&m));
        m.buffers_full_ratio = 0.25;
        assert_true(interval_buffers_full(&m));
}

/* DRAM at its limit has no bandwidth left, even if prefetches hide this from loads. */
TEST(bandwidth_is_short_at_the_limit_too)
{
        assert_int_equal(bandwidth_short(ANSWER_NO, BOUND_BANDWIDTH), ANSWER_YES);
        assert_int_equal(bandwidth_short(ANSWER_UNKNOWN, BOUND_BANDWIDTH), ANSWER_YES);
        assert_int_equal(bandwidth_short(ANSWER_YES, BOUND_BANDWIDTH), ANSWER_YES);
        assert_int_equal(bandwidth_short(ANSWER_NO, BOUND_IN_CORE), ANSWER_NO);
        assert_int_equal(bandwidth_short(ANSWER_UNKNOWN, BOUND_LATENCY), ANSWER_UNKNOWN);
}

/* One core's interval of a million cycles with these counts of stalled cycles. */
static enum bound bound_of_stalls(double stalls_l1d, double store_buffer, double fb_full,
                                  double sq_full, enum answer contended)
{
        bool known[CONCEPT_COUNT] = {false};
        struct interval i = {.start_ns = 0, .end_ns = 500000};
        known[CONCEPT_CYCLES] = known[CONCEPT_STALLS_L1D] = known[CONCEPT_FB_FULL] = true;
        i.gained[CONCEPT_CYCLES] = 1e6;
        i.gained[CONCEPT_STALLS_L1D] = stalls_l1d;
        i.gained[CONCEPT_FB_FULL] = fb_full;
        i.gained[CONCEPT_STORE_BUFFER] = store_buffer;
        i.gained[CONCEPT_SQ_FULL] = sq_full;
        known[CONCEPT_STORE_BUFFER] = store_buffer >= 0;
        known[CONCEPT_SQ_FULL] = sq_full >= 0;
        return bound_on(&machine, contended,
                        interval_metrics(&i, known, machine.clock_mhz));
}

#define expect_bound_of_stalls(bound, ...)                                               \
        assert_int_equal(bound_of_stalls(__VA_ARGS__), bound)

/* Ten bursts of 30 us in 1 ms, with a sample each us: 700 us are idle. */
TEST(gaps_between_bursts_are_idle)
{
        enum { BURSTS = 10, EACH = 30, COUNT = BURSTS * EACH };
        int64_t bursts[COUNT], even[COUNT];
        for (int i = 0; i < COUNT; i++) {
                bursts[i] = i / EACH * 100000 + i % EACH * 1000;
                even[i] = (int64_t)i * 1000000 / COUNT;
        }
        assert_near(idle_part(bursts, COUNT, 0, 1000000, NAN), 0.7, 0.011);
        assert_near(idle_part(even, COUNT, 0, 1000000, NAN), 0, 1e-9);
        assert_true(isnan(idle_part(even, 19, 0, 1000000, NAN)));
        /* Samples of other threads may have times in a neighbouring interval. */
        assert_near(idle_part(even, COUNT, 100000, 900000, NAN), 0, 1e-9);
        /* Six threads in step: their samples overlap in DRAM. */
        for (int i = 0; i < COUNT; i++)
                even[i] = i / 6 * 20000 + i % 6;
        assert_near(idle_part(even, COUNT, 0, 1000000, 100), 0, 1e-9);
}

/* 30 of 100 GB/s and loads of twice the idle latency. Bandwidth is short only if all
 * bytes move in half of the time. Without an idle share the answer is unknown. */
TEST(phases_shorter_than_the_interval_count_while_they_last)
{
        static const struct {
                double read_gbs, lmrl_cycles, idle_part;
                enum answer answer;
        } cases[] = {{30, 2 * IDLE, 0, ANSWER_NO},
                     {30, 2 * IDLE, 0.5, ANSWER_YES},
                     {30, 2 * IDLE, NAN, ANSWER_UNKNOWN},
                     {30, IDLE, NAN, ANSWER_NO},
                     {4, 2 * IDLE, NAN, ANSWER_NO}}; /* too little in any phase */
        for (size_t i = 0; i < LENGTH(cases); i++) {
                const struct interval_metrics m = {.read_gbs = cases[i].read_gbs,
                                                   .miss_loads = 1e6,
                                                   .lmrl_cycles = cases[i].lmrl_cycles,
                                                   .active_cores = 8,
                                                   .idle_part = cases[i].idle_part};
                assert_int_equal(contended_on(&machine, IDLE, m), cases[i].answer);
        }
}

/* Bursts of 3 of 100 GB/s in all: bandwidth bounds the interval only if it stalls. */
TEST(short_bursts_do_not_bound_an_interval_that_computes)
{
        struct interval_metrics m = {.used_cores = 6,
                                     .read_gbs = 3,
                                     .memory_stall_ratio = 0.03,
                                     .bandwidth_stall_ratio = 0.01};
        assert_int_equal(bound_on(&machine, ANSWER_YES, m), BOUND_COMPUTE);
        m.memory_stall_ratio = 0.3;
        assert_int_equal(bound_on(&machine, ANSWER_YES, m), BOUND_BANDWIDTH);
}

/* Half of the lines take 400 cycles on an idle memory, the others 200. */
TEST(remote_lines_are_slower_on_an_idle_memory_too)
{
        struct interval i = stream(lines_of(60), 300, 0, 0);
        struct machine_facts mix = machine_of_mix(&machine, 0.5, 2 * IDLE);
        assert_near(uncontended_lmrl(&i, all_known, &mix), 300, 1e-9);
        mix = machine_of_mix(&machine, 0.5, NAN);
        assert_near(uncontended_lmrl(&i, all_known, &mix), IDLE, 1e-9);
        mix = machine_of_mix(&machine, 0, 2 * IDLE);
        assert_near(uncontended_lmrl(&i, all_known, &mix), IDLE, 1e-9);
}

/* One node moves at most its peak, and short intervals little more. */
TEST(traffic_above_a_nodes_peak_is_of_several_nodes)
{
        struct machine_facts nodes = machine;
        nodes.dram_nodes = 2;
        struct interval_metrics m = {.read_gbs = 1.5 * machine.dram_bandwidth_gbs};
        assert_near(interval_nodes(&m, &machine), 1, 0);
        assert_near(interval_nodes(&m, &nodes), 2, 0);
        m = metrics_of_node(&m, &nodes);
        assert_near(interval_bandwidth_use(&m, &nodes), 0.75, 1e-9);
        m.read_gbs = 1.05 * machine.dram_bandwidth_gbs;
        assert_near(interval_nodes(&m, &nodes), 1, 0);
}

/* Additions: 8 of 10 cycles execute nothing during a miss; loads stall at most 0.5. */
TEST(stalls_that_no_sample_has_are_no_waits_for_memory)
{
        struct interval_metrics m = {
            .used_cores = 1, .memory_stall_ratio = 0.8, .sampled_stall_most = 0.05};
        assert_int_equal(bound_by(m), BOUND_LATENCY);
        interval_limit_stalls(&m, NAN);
        assert_int_equal(bound_by(m), BOUND_COMPUTE);
        m.memory_stall_ratio = 0.8;
        m.sampled_stall_most = NAN;
        interval_limit_stalls(&m, NAN);
        assert_near(m.memory_stall_ratio, 0.8, 1e-9);
}

/* Of a million cycles the store buffer is full for 600 000. DRAM moves LINES lines
 * meanwhile, each in 200 cycles. */
TEST(stores_that_wait_for_other_cores_are_latency)
{
        static const struct {
                double lines, fb_full, bandwidth;
                enum bound bound;
        } cases[] = {{0, 0, 0, BOUND_LATENCY},
                     {500, 0, 0.1, BOUND_LATENCY},
                     {2500, 0, 0.5, BOUND_IN_CORE},
                     {5000, 0, 0.6, BOUND_IN_CORE},
                     {0, 4e5, 0.4, BOUND_IN_CORE}};
        bool known[CONCEPT_COUNT];
        memset(known, true, sizeof(known));
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct interval stores = {.end_ns = 500000};
                stores.gained[CONCEPT_CYCLES] = 1e6;
                stores.gained[CONCEPT_STORE_BUFFER] = 6e5;
                stores.gained[CONCEPT_FB_FULL] = cases[i].fb_full;
                stores.gained[CONCEPT_DRAM_READ] = cases[i].lines * LINE_BYTES;
                struct interval_metrics m =
                    interval_metrics(&stores, known, machine.clock_mhz);
                m.sampled_stall_most = NAN;
                interval_limit_stalls(&m, 200);
                assert_near(m.memory_stall_ratio, 0.6, 1e-9);
                assert_near(m.bandwidth_stall_ratio, cases[i].bandwidth, 1e-9);
                assert_int_equal(bound_by(m), cases[i].bound);
        }
}

/* Kernel time of 5 in 10 cycles is the largest class, also beside contended loads. Kernel
 * time of 3 is not, and is no work: loads that wait for 4 exceed 3 of work. */
TEST(the_kernels_time_is_a_class_of_its_own)
{
        struct interval_metrics m = {.used_cores = 1,
                                     .memory_stall_ratio = 0.2,
                                     .bandwidth_stall_ratio = 0,
                                     .kernel_ratio = 0.5};
        assert_int_equal(bound_by(m), BOUND_KERNEL);
        assert_int_equal(bound_on(&machine, ANSWER_YES, m), BOUND_KERNEL);
        m.memory_stall_ratio = 0.4;
        m.kernel_ratio = 0.3;
        assert_int_equal(bound_by(m), BOUND_LATENCY);
        m.memory_stall_ratio = NAN;
        assert_int_not_equal(bound_by(m), BOUND_KERNEL);
        m.kernel_ratio = 0.51;
        assert_int_equal(bound_by(m), BOUND_KERNEL);
}

TEST(bounds_follow_the_rules_in_their_order)
{
        expect_bound(BOUND_IDLE, 0.04, 0, 0, 1, 0.1, ANSWER_NO);
        expect_bound(BOUND_BANDWIDTH, 1, 60, 0.9, 9, 0.1, ANSWER_YES);
        /* Stores alone reach the limit without any load that waits. */
        expect_bound(BOUND_BANDWIDTH, 1, 90, 0, 0, 0.1, ANSWER_NO);
        expect_bound(BOUND_COMPUTE, 1, 89, 0, 0, 0.1, ANSWER_NO);
        /* H20's false positive: buffers full at low bandwidth. */
        expect_bound(BOUND_IN_CORE, 1, 10, 0.25, 9, 0.1, ANSWER_NO);
        expect_bound(BOUND_LATENCY, 1, 10, 0.24, 9, 0.1, ANSWER_NO);
        expect_bound(BOUND_UNKNOWN, 1, 10, 0.9, 9, 0.1, ANSWER_UNKNOWN);
        expect_bound(BOUND_COMPUTE, 1, 1, 0, 0.29, 0.5, ANSWER_NO);
        expect_bound(BOUND_COMPUTE, 1, 1, 0, 3, 2, ANSWER_NO);
        expect_bound(BOUND_LATENCY, 1, 1, 0, 1, 0.02, ANSWER_NO);
        expect_bound(BOUND_UNKNOWN, 1, 1, 0, 0.4, 0.5, ANSWER_NO);
        expect_bound(BOUND_UNKNOWN, 1, 1, 0, 1, 1.5, ANSWER_NO);
        expect_bound(BOUND_UNKNOWN, NAN, NAN, NAN, NAN, NAN, ANSWER_UNKNOWN);
}

/* Writes may have a lower peak than reads. Three quarters of it are the limit. */
TEST(writes_have_a_peak_of_their_own)
{
        struct machine_facts measured = machine;
        measured.dram_write_bandwidth_gbs = 40;
        struct interval_metrics m = {
            .used_cores = 1, .read_gbs = 30, .write_gbs = 30, .memory_stall_ratio = 0.05};
        assert_int_equal(bound_on(&measured, ANSWER_NO, m), BOUND_BANDWIDTH);
        m.write_gbs = 29.9;
        assert_int_not_equal(bound_on(&measured, ANSWER_NO, m), BOUND_BANDWIDTH);
        /* The program asks for no more. */
        m.write_gbs = 30;
        m.memory_stall_ratio = 0.049;
        assert_int_equal(bound_on(&measured, ANSWER_NO, m), BOUND_COMPUTE);
}

/* Stores past the caches read no line: three quarters of the peak of all traffic are
 * their limit. Half of one limit and half of the other are as much as one. */
TEST(writes_of_lines_that_nobody_read_have_the_peak_of_all_traffic)
{
        static const struct {
                double read_gbs, write_gbs;
                bool bound;
        } cases[] = {
            {0, 74.9, false}, {0, 75, true}, {15, 52.4, false}, {15, 52.5, true}};
        struct machine_facts measured = machine;
        measured.dram_write_bandwidth_gbs = 40;
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct interval_metrics m = {.used_cores = 1,
                                             .read_gbs = cases[i].read_gbs,
                                             .write_gbs = cases[i].write_gbs,
                                             .memory_stall_ratio = 0.05};
                enum bound bound = bound_on(&measured, ANSWER_NO, m);
                assert_int_equal(bound == BOUND_BANDWIDTH, cases[i].bound);
        }
}

/* Eight cores with full buffers move 60 GB/s: 16 million cycles for 937500 lines. Ten
 * buffers a core mean a latency of 171, twelve 205, fifteen 256 cycles. 250 is the
 * limit. */
TEST(full_buffers_tell_the_latency_of_stores)
{
        static const struct {
                double buffers;
                enum answer contended;
        } cases[] = {{10, ANSWER_NO}, {12, ANSWER_NO}, {15, ANSWER_YES}};
        struct interval stores = stream(0, 0, 0, lines_of(30));
        stores.gained[CONCEPT_DRAM_READ] = 0;
        stores.gained[CONCEPT_DRAM_WRITE] = 60e6;
        stores.gained[CONCEPT_FB_FULL] = stores.gained[CONCEPT_CYCLES];
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct machine_facts buffers = machine;
                buffers.lfb_entries = cases[i].buffers;
                const struct interval_metrics metrics =
                    interval_metrics(&stores, all_known, machine.clock_mhz);
                assert_int_equal(contended_on(&buffers, NAN, metrics),
                                 cases[i].contended);
        }
}

/* Stores and prefetches have no LMRL, but samples: above 250 cycles a line is late. */
TEST(lines_that_come_late_to_free_buffers_queued_in_dram)
{
        static const struct {
                double gbs, sampled_cycles, full;
                enum answer contended;
        } cases[] = {{60, 251, 0.04, ANSWER_YES},
                     {60, 249, 0.04, ANSWER_NO},
                     {60, NAN, 0.04, ANSWER_NO},
                     {60, 251, 0.05, ANSWER_NO}, /* or for a buffer */
                     {40, 251, 0.04, ANSWER_NO}};
        for (size_t i = 0; i < LENGTH(cases); i++) {
                const struct interval_metrics metrics = {
                    .write_gbs = cases[i].gbs,
                    .active_cores = NAN,
                    .buffers_full_ratio = cases[i].full,
                    .dram_sample_cycles = cases[i].sampled_cycles};
                assert_int_equal(contended_on(&machine, NAN, metrics),
                                 cases[i].contended);
        }
}

/* M17's classes. First its pointer chases: loads of 200 cycles each, alone and with 24
 * independent multiplications a load. The multiplications execute in 24 of the 200
 * cycles. Then its other classes. */
TEST(stalls_tell_the_middle)
{
        enum { ABSENT = -1 };
        expect_bound_of_stalls(BOUND_LATENCY, 1e6, 0, 0, 0, ANSWER_NO);
        expect_bound_of_stalls(BOUND_LATENCY, 1e6 * 176 / 200, 0, 0, 0, ANSWER_NO);
        /* Mostly arithmetic: 10 % of the cycles waited. */
        expect_bound_of_stalls(BOUND_COMPUTE, 1e5, 0, 0, 0, ANSWER_NO);
        /* Full buffers with a full queue, or stores, make the bandwidth part largest. */
        expect_bound_of_stalls(BOUND_IN_CORE, 7e5, 0, 2e5, 3e5, ANSWER_NO);
        expect_bound_of_stalls(BOUND_LATENCY, 7e5, 0, 2e5, 1e5, ANSWER_NO);
        /* Full buffers are the bound only if they stalled more than latency did. */
        expect_bound_of_stalls(BOUND_LATENCY, 9e5, 0, 3e5, 0, ANSWER_NO);
        expect_bound_of_stalls(BOUND_IN_CORE, 9e5, 0, 5e5, 0, ANSWER_NO);
        expect_bound_of_stalls(BOUND_IN_CORE, 7e5, 6e5, 0, 0, ANSWER_NO);
        expect_bound_of_stalls(BOUND_UNKNOWN, 7e5, 6e5, 0, 0, ANSWER_UNKNOWN);
        /* Stores wait although no load does. */
        expect_bound_of_stalls(BOUND_IN_CORE, 0, 6e5, 0, 0, ANSWER_NO);
        /* CPUs without these counters. */
        expect_bound_of_stalls(BOUND_LATENCY, 7e5, ABSENT, 2e5, ABSENT, ANSWER_NO);
}

/* ---- thresholds without machine facts ---- */

static struct interval_metrics moving(double gbs, double lmrl)
{
        return (struct interval_metrics){
            .read_gbs = gbs, .write_gbs = 0, .miss_loads = 1e6, .lmrl_cycles = lmrl};
}

TEST(quiet_intervals_give_the_baseline)
{
        struct interval_metrics m[] = {
            moving(10, 190), moving(20, 200), moving(25, 210),  moving(5, 180),
            moving(15, 220), moving(26, 999), moving(100, 400),
        };
        double lmrl, peak;
        assert_int_equal(quiet_lmrl(m, LENGTH(m), &lmrl, &peak), 0);
        assert_near(peak, 100, 0);
        assert_near(lmrl, 200, 0); /* the median of intervals up to 25 GB/s */
        /* Four quiet intervals are too few. */
        assert_int_equal(quiet_lmrl(m + 1, 6, &lmrl, &peak), 0);
        assert_true(isnan(lmrl));
}
