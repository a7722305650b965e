/* SPDX-License-Identifier: MIT */
/* The rules of attribution at their boundaries: a sample's cause, and the verdict. */
#include "rule_machine.h"
#include "thresholds.h"
#include "unit_test.h"
#include "verdict.h"

static enum cause cause_of(struct sample_facts sample)
{
        struct thresholds thresholds = thresholds_of_machine(&machine);
        return sample_cause(&sample, &machine, &thresholds);
}

static enum cause cause(enum level level, int64_t latency_cycles, bool tlb_missed,
                        enum answer contended, enum bound bound)
{
        return cause_of((struct sample_facts){.level = level,
                                              .tlb_missed = tlb_missed,
                                              .latency_cycles = latency_cycles,
                                              .bandwidth_short = contended,
                                              .interval_bound = bound});
}

#define expect(expected, ...) assert_int_equal(cause(__VA_ARGS__), expected)

/* The cause of a sample with these facts, members of struct sample_facts. */
#define AT(at, cycles) .level = LEVEL_##at, .latency_cycles = (cycles)
#define SHORT(answer)  .bandwidth_short = ANSWER_##answer
#define BOUND(bound)   .interval_bound = BOUND_##bound
#define expect_of(expected, ...)                                                         \
        assert_int_equal(cause_of((struct sample_facts){__VA_ARGS__}), expected)

/* The verdict on these facts, members of struct verdict_facts. */
#define expect_verdict(expected, ...)                                                    \
        assert_int_equal(verdict_of(&(struct verdict_facts){__VA_ARGS__}), expected)
#define OF(samples, cost)         .latencies = (samples), .cost_ratio = (cost)
#define LATENCY_OF(cause, cycles) .cause_latency_cycles[cause] = (cycles)

TEST(slow_loads_of_contended_intervals_suffer_contention)
{
        /* High is above 1.25 times DRAM's 200 cycles. */
        expect(CAUSE_CONTENTION, LEVEL_DRAM, 251, false, ANSWER_YES, BOUND_BANDWIDTH);
        expect(CAUSE_DRAM, LEVEL_DRAM, 250, false, ANSWER_YES, BOUND_BANDWIDTH);
        expect(CAUSE_CONTENTION, LEVEL_LFB, 400, false, ANSWER_YES, BOUND_BANDWIDTH);
        /* DRAM cannot be so fast: the rest of a prefetch's time. */
        expect(CAUSE_CONTENTION, LEVEL_DRAM, 149, false, ANSWER_YES, BOUND_BANDWIDTH);
        expect(CAUSE_DRAM, LEVEL_DRAM, 150, false, ANSWER_YES, BOUND_BANDWIDTH);
        expect(CAUSE_DRAM, LEVEL_DRAM, 149, false, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_DRAM, LEVEL_DRAM, 400, false, ANSWER_NO, BOUND_LATENCY);
        /* The cache is as fast as ever: an innocent neighbour. */
        expect(CAUSE_NONE, LEVEL_L1, 4, false, ANSWER_YES, BOUND_BANDWIDTH);
        expect(CAUSE_CACHE, LEVEL_L3, 400, false, ANSWER_YES, BOUND_BANDWIDTH);
}

/* Even if the interval is short of bandwidth. */
TEST(loads_that_no_store_forwards_to_say_so)
{
        expect_of(CAUSE_STORE_FORWARDING, AT(L1, 700), .unforwarded = true, SHORT(YES));
}

/* Another core's line is the longer wait. */
TEST(locked_instructions_with_lines_in_l1_say_so)
{
        expect_of(CAUSE_LOCKED, AT(L1, 18), .locked = true);
        expect_of(CAUSE_NONE, AT(L1, 18));
        expect_of(CAUSE_SHARING, AT(L3, 90), .locked = true, .hit_modified = true);
}

/* A latency that other work hides costs nothing, however long it is. */
TEST(hidden_waits_are_none)
{
        expect_verdict(VERDICT_DRAM_LATENCY, OF(100, 0.5), LATENCY_OF(CAUSE_DRAM, 1e5));
        expect_verdict(VERDICT_NONE, OF(100, 0.5), LATENCY_OF(CAUSE_DRAM, 1e5),
                       .stalls_known = true);
}

/* A verdict names one cause, and its stall time has to matter: 0.5 % of the cycles. */
TEST(stalls_of_several_small_causes_are_none)
{
        struct verdict_facts facts = {OF(100, 0.5), .stalls = 100, .stalls_known = true};
        facts.cycle_ratio = 1e-6;
        facts.cause_retire_cycles[CAUSE_DRAM] = 4900;
        facts.cause_retire_cycles[CAUSE_CACHE] = 4800;
        assert_int_equal(verdict_of(&facts), VERDICT_NONE);
        facts.cause_retire_cycles[CAUSE_DRAM] = 5100;
        assert_int_equal(verdict_of(&facts), VERDICT_DRAM_LATENCY);
}

/* Page faults need no samples: their cycles are compared with loads' stall cycles. */
TEST(page_faults_prevail_by_their_time)
{
        struct verdict_facts facts = {
            .latencies = 100, .stalls = 100, .cost_ratio = 0.5, .cycle_ratio = 1e-6};
        facts.cause_latency_cycles[CAUSE_DRAM] = 1e5;
        facts.cause_retire_cycles[CAUSE_DRAM] = 1e5; /* 0.1 of the cycles */
        facts.fault_ratio = 0.09;
        assert_int_equal(verdict_of(&facts), VERDICT_DRAM_LATENCY);
        facts.fault_ratio = 0.11;
        assert_int_equal(verdict_of(&facts), VERDICT_PAGE_FAULTS);
        facts.latencies = 0;
        assert_int_equal(verdict_of(&facts), VERDICT_PAGE_FAULTS);
        facts.cause_retire_cycles[CAUSE_DRAM] = 0;
        facts.fault_ratio = 0.004;
        assert_int_equal(verdict_of(&facts), VERDICT_TOO_FEW_SAMPLES);
}

TEST(slow_loads_of_in_core_intervals_waited_for_what_those_lack)
{
        /* For a buffer: that wait is longer than DRAM's 200 cycles. */
        expect(CAUSE_IN_CORE, LEVEL_DRAM, 401, false, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_DRAM, LEVEL_DRAM, 400, false, ANSWER_NO, BOUND_IN_CORE);
        expect_of(CAUSE_IN_CORE, AT(LFB, 401), .line_origin = ORIGIN_DRAM,
                  BOUND(IN_CORE));
        expect_of(CAUSE_DRAM, AT(LFB, 400), .line_origin = ORIGIN_DRAM, BOUND(IN_CORE));
        /* No cache takes that long. */
        expect(CAUSE_IN_CORE, LEVEL_LFB, 251, false, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_IN_CORE, LEVEL_L3, 251, false, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_IN_CORE, LEVEL_L2, 251, false, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_CACHE, LEVEL_L3, 250, false, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_CACHE, LEVEL_L3, 251, false, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_NONE, LEVEL_L1, 251, false, ANSWER_NO,
               BOUND_IN_CORE); /* it needs none */
        /* Or for bandwidth: the buffers are full of lines that wait for DRAM. */
#define FULL(cycles, answer)                                                             \
        .latency_cycles = (cycles), .bandwidth_short = (answer), BOUND(BANDWIDTH),       \
        .interval_lacks_buffers = true
        expect_of(CAUSE_CONTENTION, .level = LEVEL_L2, FULL(251, ANSWER_YES));
        expect_of(CAUSE_CONTENTION, .level = LEVEL_L3, FULL(251, ANSWER_YES));
        expect_of(CAUSE_CACHE, .level = LEVEL_L3,
                  FULL(250, ANSWER_YES)); /* a neighbour */
        expect_of(CAUSE_TLB, .level = LEVEL_L3, FULL(251, ANSWER_YES),
                  .tlb_missed = true);
        expect_of(CAUSE_CACHE, .level = LEVEL_L3, FULL(251, ANSWER_UNKNOWN));
#undef FULL
        expect(CAUSE_CACHE, LEVEL_L3, 251, false, ANSWER_YES, BOUND_BANDWIDTH);
        /* Or for their set of L1: its lines wait for each other, despite free buffers. */
        expect(CAUSE_IN_CORE, LEVEL_L3, 251, false, ANSWER_NO, BOUND_IN_CORE);
        expect_of(CAUSE_CACHE, AT(L3, 251), BOUND(IN_CORE), .conflict_sets = 1);
        expect_of(CAUSE_IN_CORE, AT(DRAM, 500), BOUND(IN_CORE), .conflict_sets = 1);
        /* Where that is slower than their translation: one set takes a line of L3 in 16
         * cycles, two walkers end a walk in 15. */
#define MISSED .tlb_missed = true, BOUND(IN_CORE)
        expect_of(CAUSE_TLB, AT(L3, 1300), MISSED);
        expect_of(CAUSE_CACHE, AT(L3, 1300), MISSED, .conflict_sets = 1);
        expect_of(CAUSE_TLB, AT(L3, 1300), MISSED, .conflict_sets = 2);
        expect_of(CAUSE_TLB, AT(L2, 1300), MISSED, .conflict_sets = 1);
        /* It hardly queued. */
        expect_of(CAUSE_TLB, AT(L3, 180), MISSED, .conflict_sets = 1);
#undef MISSED
        /* Lines of one set do not wait for memory, even if it is short of bandwidth. */
        expect_of(CAUSE_CONTENTION, AT(L3, 251), .interval_lacks_buffers = true,
                  SHORT(YES));
        expect_of(CAUSE_CACHE, AT(L3, 251), .interval_lacks_buffers = true, SHORT(YES),
                  .conflict_sets = 1);
        /* Or for their translation: a cache delivers faster than a page walk ends. */
        expect(CAUSE_TLB, LEVEL_L3, 500, true, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_TLB, LEVEL_L2, 500, true, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_IN_CORE, LEVEL_LFB, 500, true, ANSWER_NO, BOUND_IN_CORE);
        expect(CAUSE_IN_CORE, LEVEL_DRAM, 500, true, ANSWER_NO, BOUND_IN_CORE);
        /* So do loads of bursts that fill all buffers, although other work bounds the
         * interval. */
        expect_of(CAUSE_IN_CORE, AT(DRAM, 500), BOUND(COMPUTE),
                  .interval_lacks_buffers = true);
        /* The walk may have taken the time. */
        expect_of(CAUSE_DRAM, AT(DRAM, 500), BOUND(COMPUTE),
                  .interval_lacks_buffers = true, .tlb_missed = true);
        expect_of(CAUSE_DRAM, AT(DRAM, 210), BOUND(COMPUTE),
                  .interval_lacks_buffers = true);
}

TEST(while_buffers_are_full_the_requests_of_a_function_have_one_cause)
{
#define WITH(cause)                                                                      \
        .interval_buffers_full = true, .interval_lacks_buffers = true,                   \
        .full_cause = (cause)
        expect_of(CAUSE_IN_CORE, AT(DRAM, 210), WITH(CAUSE_IN_CORE));
        expect_of(CAUSE_DRAM, AT(L3, 900), WITH(CAUSE_DRAM));
        expect_of(CAUSE_CACHE, AT(DRAM, 900), WITH(CAUSE_CACHE));
        /* It needs no buffer, or waits for something else. */
        expect_of(CAUSE_NONE, AT(L1, 900), WITH(CAUSE_IN_CORE));
        expect_of(CAUSE_CACHE, AT(L3, 900), .conflict_sets = 1, WITH(CAUSE_IN_CORE));
        expect_of(CAUSE_CONTENTION, AT(DRAM, 900), SHORT(YES), WITH(CAUSE_IN_CORE));
        /* The function's requests do not tell. */
        expect_of(CAUSE_IN_CORE, AT(DRAM, 401), WITH(CAUSE_NONE));
        expect_of(CAUSE_DRAM, AT(DRAM, 400), WITH(CAUSE_NONE));
#undef WITH
}

TEST(a_store_waits_for_nothing_but_room_in_the_store_buffer)
{
#define STORE(cycles) .store = true, .latency_cycles = (cycles)
        expect_of(CAUSE_IN_CORE, .level = LEVEL_DRAM, STORE(200));
        expect_of(CAUSE_CACHE, .level = LEVEL_L3, STORE(60));
        expect_of(CAUSE_IN_CORE, .level = LEVEL_DRAM, STORE(200),
                  .interval_buffers_full = true, .full_cause = CAUSE_DRAM);
        expect_of(CAUSE_NONE, .level = LEVEL_L1, STORE(4));
        expect_of(CAUSE_CONTENTION, .level = LEVEL_DRAM, STORE(300), SHORT(YES));
        expect_of(CAUSE_DRAM, .level = LEVEL_DRAM, STORE(300), SHORT(UNKNOWN));
        /* The instructions behind a locked one wait for it. */
        expect_of(CAUSE_DRAM, .level = LEVEL_DRAM, STORE(200), .locked = true);
#undef STORE
}

TEST(a_line_in_flight_is_judged_by_how_long_it_took)
{
        /* 1.25 times the last cache's 60 cycles. */
        expect(CAUSE_CACHE, LEVEL_LFB, 75, false, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_UNKNOWN, LEVEL_LFB, 76, false, ANSWER_NO, BOUND_LATENCY);
}

static enum cause cause_of_line(enum origin origin, int64_t latency_cycles)
{
        return cause_of((struct sample_facts){.level = LEVEL_LFB,
                                              .line_origin = origin,
                                              .latency_cycles = latency_cycles,
                                              SHORT(NO),
                                              BOUND(LATENCY)});
}

TEST(a_slow_line_in_flight_comes_from_where_the_others_do)
{
        assert_int_equal(cause_of_line(ORIGIN_UNKNOWN, 100), CAUSE_UNKNOWN);
        assert_int_equal(cause_of_line(ORIGIN_DRAM, 100), CAUSE_DRAM);
        assert_int_equal(cause_of_line(ORIGIN_CACHE, 100), CAUSE_CACHE);
        assert_int_equal(cause_of_line(ORIGIN_SHARING, 100), CAUSE_SHARING);
        assert_int_equal(cause_of_line(ORIGIN_REMOTE, 100), CAUSE_REMOTE);
        /* No longer than a cache takes, so no other cause is needed. */
        assert_int_equal(cause_of_line(ORIGIN_SHARING, 75), CAUSE_CACHE);
        assert_int_equal(cause_of_line(ORIGIN_REMOTE, 75), CAUSE_CACHE);
}

TEST(slow_loads_that_ask_for_lines_tell_their_origin)
{
        struct thresholds thresholds = thresholds_of_machine(&machine);
        static const struct {
                enum level level;
                bool hit_modified;
                int64_t latency_cycles;
                enum origin origin;
        } samples[] = {
            {LEVEL_DRAM, false, 76, ORIGIN_DRAM},
            {LEVEL_DRAM, false, 75, ORIGIN_UNKNOWN},
            {LEVEL_L3, false, 76, ORIGIN_CACHE},
            {LEVEL_L2, false, 14, ORIGIN_UNKNOWN},
            {LEVEL_L3, true, 100, ORIGIN_SHARING},
            {LEVEL_REMOTE_CACHE, true, 100, ORIGIN_SHARING},
            {LEVEL_REMOTE_DRAM, false, 300, ORIGIN_REMOTE},
            {LEVEL_LFB, false, 300, ORIGIN_UNKNOWN},
            {LEVEL_L1, false, 300, ORIGIN_UNKNOWN},
            {LEVEL_DRAM, false, -1, ORIGIN_UNKNOWN},
        };
        for (size_t i = 0; i < LENGTH(samples); i++) {
                struct sample_facts sample = {.level = samples[i].level,
                                              .hit_modified = samples[i].hit_modified,
                                              .latency_cycles =
                                                  samples[i].latency_cycles};
                assert_int_equal(sample_origin(&sample, &thresholds), samples[i].origin);
        }
}

static enum origin origin_of(int64_t samples, double dram_cycles, double cache_cycles)
{
        struct origins origins = {
            .samples = samples,
            .latency_cycles = {
                [ORIGIN_DRAM] = dram_cycles, [ORIGIN_CACHE] = cache_cycles}};
        return place_origin(&origins);
}

TEST(few_samples_tell_an_origin_when_they_agree)
{
        assert_int_equal(origin_of(20, 99, 100), ORIGIN_CACHE);
        assert_int_equal(origin_of(19, 99, 100), ORIGIN_UNKNOWN);
        assert_int_equal(origin_of(5, 10, 90), ORIGIN_CACHE);
        assert_int_equal(origin_of(5, 90, 10), ORIGIN_DRAM);
        assert_int_equal(origin_of(5, 11, 89), ORIGIN_UNKNOWN);
        assert_int_equal(origin_of(4, 0, 100), ORIGIN_UNKNOWN);
        assert_int_equal(origin_of(0, 0, 0), ORIGIN_UNKNOWN);
}

/* If no load waits for a buffer, no cache is slow, even if other intervals differ. */
TEST(free_buffers_leave_a_cache_no_reason_to_be_slow)
{
        const struct origins cache = {.samples = 20,
                                      .latency_cycles = {[ORIGIN_CACHE] = 2000}};
        const struct origins dram = {.samples = 20,
                                     .latency_cycles = {[ORIGIN_DRAM] = 4000}};
        assert_int_equal(run_origin(&cache, true), ORIGIN_UNKNOWN);
        assert_int_equal(run_origin(&cache, false), ORIGIN_CACHE);
        assert_int_equal(run_origin(&dram, true), ORIGIN_DRAM);
}

TEST(one_long_sample_tells_no_origin)
{
        struct origins few = {0}, many = {0};
        origins_add(&few, ORIGIN_DRAM, 10000);
        for (int i = 0; i < 4; i++)
                origins_add(&few, ORIGIN_CACHE, 130);
        assert_int_equal(place_origin(&few), ORIGIN_UNKNOWN);
        origins_add(&many, ORIGIN_DRAM, 1e6);
        for (int i = 0; i < 100; i++)
                origins_add(&many, ORIGIN_CACHE, 130);
        assert_int_equal(place_origin(&many), ORIGIN_CACHE);
}

TEST(samples_that_took_no_time_tell_no_origin)
{
        struct origins few = {0}, none = {0};
        for (int i = 0; i < 8; i++)
                origins_add(&few, ORIGIN_SHARING, 300);
        origins_add(&few, ORIGIN_SHARING, 0);
        assert_int_equal(place_origin(&few), ORIGIN_SHARING);
        for (int i = 0; i < 20; i++) {
                origins_add(&none, ORIGIN_SHARING, 0);
                assert_int_equal(place_origin(&none), ORIGIN_UNKNOWN);
        }
}

static enum origin origin_of_traffic(double lines, double misses)
{
        bool known[CONCEPT_COUNT] = {[CONCEPT_CYCLES] = true,
                                     [CONCEPT_L1_MISS] = true,
                                     [CONCEPT_DRAM_READ] = true};
        struct interval interval = {.gained = {[CONCEPT_CYCLES] = 2000000,
                                               [CONCEPT_L1_MISS] = misses,
                                               [CONCEPT_DRAM_READ] = 64 * lines}};
        return traffic_origin(&interval, known, &machine);
}

TEST(traffic_tells_where_lines_come_from)
{
        /* 50 lines of 200 cycles are 0.5 % of 2 000 000. */
        assert_int_equal(origin_of_traffic(0, 10000), ORIGIN_CACHE);
        assert_int_equal(origin_of_traffic(49, 10000), ORIGIN_CACHE);
        assert_int_equal(origin_of_traffic(50, 10000), ORIGIN_UNKNOWN);
        assert_int_equal(origin_of_traffic(4999, 10000), ORIGIN_UNKNOWN);
        assert_int_equal(origin_of_traffic(5000, 10000), ORIGIN_DRAM);
        /* No counter shows the origin. */
        bool known[CONCEPT_COUNT] = {[CONCEPT_CYCLES] = true};
        struct interval interval = {.gained = {[CONCEPT_CYCLES] = 2000000}};
        assert_int_equal(traffic_origin(&interval, known, &machine), ORIGIN_UNKNOWN);
}

/* Another request is the first for the line; the load waits for the rest of it. */
TEST(lines_on_their_way_from_a_short_dram_are_contended)
{
        expect_of(CAUSE_CONTENTION, AT(LFB, 90), .line_origin = ORIGIN_DRAM, SHORT(YES),
                  BOUND(BANDWIDTH));
        expect_of(CAUSE_DRAM, AT(LFB, 90), .line_origin = ORIGIN_DRAM, SHORT(NO),
                  BOUND(LATENCY));
        expect_of(CAUSE_CACHE, AT(LFB, 90), .line_origin = ORIGIN_CACHE, SHORT(YES),
                  BOUND(BANDWIDTH));
}

TEST(a_translation_counts_when_it_took_most_of_the_time)
{
        expect(CAUSE_TLB, LEVEL_L2, 29, true, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_CACHE, LEVEL_L2, 28, true, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_TLB, LEVEL_L1, 40, true, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_NONE, LEVEL_L1, 40, false, ANSWER_NO, BOUND_LATENCY);
        expect(CAUSE_DRAM, LEVEL_DRAM, 240, true, ANSWER_NO, BOUND_LATENCY);
}

TEST(other_nodes_and_other_cores_come_first)
{
        expect(CAUSE_REMOTE, LEVEL_REMOTE_DRAM, 400, false, ANSWER_YES, BOUND_BANDWIDTH);
        expect_of(CAUSE_SHARING, .level = LEVEL_REMOTE_CACHE, .hit_modified = true,
                  .latency_cycles = 300);
}

TEST(without_thresholds_contention_is_unknown)
{
#define UNKNOWN(key) .key = NAN,
        struct machine_facts nothing = {MACHINE_FACTS(UNKNOWN)};
#undef UNKNOWN
        struct thresholds thresholds = thresholds_of_machine(&nothing);
        struct sample_facts sample = {AT(DRAM, 500), SHORT(YES)};
        assert_int_equal(sample_contended(&sample, &thresholds), ANSWER_UNKNOWN);
        assert_int_equal(sample_cause(&sample, &nothing, &thresholds), CAUSE_DRAM);
}

/* ---- the verdict ---- */

TEST(few_samples_are_not_judged)
{
        expect_verdict(VERDICT_TOO_FEW_SAMPLES, OF(19, 1), LATENCY_OF(CAUSE_DRAM, 1e6));
        expect_verdict(VERDICT_DRAM_LATENCY, OF(20, 1), LATENCY_OF(CAUSE_DRAM, 1e6));
}

TEST(what_cannot_have_cost_much_is_no_problem)
{
        static const struct {
                double cost_ratio;
                enum verdict verdict;
        } cases[] = {{0.0049, VERDICT_NONE},
                     {0.005, VERDICT_DRAM_LATENCY},
                     {NAN, VERDICT_DRAM_LATENCY}}; /* the period is not known */
        for (size_t i = 0; i < LENGTH(cases); i++)
                expect_verdict(cases[i].verdict, .latencies = 100,
                               .cost_ratio = cases[i].cost_ratio,
                               LATENCY_OF(CAUSE_DRAM, 1e6));
}

TEST(dram_of_unknown_bandwidth_is_not_said_to_have_had_some_left)
{
        expect_verdict(VERDICT_DRAM, OF(100, 1), .bandwidth_untold = true,
                       LATENCY_OF(CAUSE_DRAM, 1e6));
        expect_verdict(VERDICT_CACHE, OF(100, 1), .bandwidth_untold = true,
                       LATENCY_OF(CAUSE_DRAM, 1e6), LATENCY_OF(CAUSE_CACHE, 2e6));
}

/* Where nothing waits, walks queue as for a stream. */
TEST(without_waits_only_near_lines_wait_for_a_walk)
{
        expect(CAUSE_TLB, LEVEL_L3, 300, true, ANSWER_UNKNOWN, BOUND_UNKNOWN);
        for (enum level level = LEVEL_L2; level <= LEVEL_L3; level++)
                expect_of(level == LEVEL_L2 ? CAUSE_TLB : CAUSE_CACHE, .level = level,
                          .tlb_missed = true, .latency_cycles = 300, SHORT(UNKNOWN),
                          BOUND(UNKNOWN), .without_waits = true);
}

/* 9 cycles of the TLB's second level are more than L1's 4 or 5, and less than L2's 14. */
TEST(the_second_level_of_the_tlb_outweighs_l1_only)
{
        static const struct {
                enum level level;
                int64_t latency_cycles;
                bool second; /* false: not told, as of most processors */
                enum cause cause;
        } cases[] = {
            {LEVEL_L1, 14, true, CAUSE_TLB},    {LEVEL_L2, 14 + 9, true, CAUSE_CACHE},
            {LEVEL_L2, 100, true, CAUSE_CACHE}, /* no queue: the rest was another wait */
            {LEVEL_L1, 5, true, CAUSE_NONE},    {LEVEL_L1, 14, false, CAUSE_NONE},
        };
        for (size_t i = 0; i < LENGTH(cases); i++)
                expect_of(cases[i].cause, .level = cases[i].level,
                          .latency_cycles = cases[i].latency_cycles,
                          .tlb_second = cases[i].second, SHORT(UNKNOWN), BOUND(UNKNOWN));
}

TEST(the_cause_with_the_most_latency_decides)
{
        static const enum verdict expected[CAUSE_COUNT] = {
            [CAUSE_SHARING] = VERDICT_SHARING,
            [CAUSE_REMOTE] = VERDICT_REMOTE_MEMORY,
            [CAUSE_CONTENTION] = VERDICT_DRAM_CONTENTION,
            [CAUSE_IN_CORE] = VERDICT_IN_CORE,
            [CAUSE_DRAM] = VERDICT_DRAM_LATENCY,
            [CAUSE_TLB] = VERDICT_TLB,
            [CAUSE_CACHE] = VERDICT_CACHE,
            [CAUSE_LOCKED] = VERDICT_LOCKED,
            [CAUSE_UNKNOWN] = VERDICT_UNKNOWN,
            [CAUSE_NONE] = VERDICT_NONE,
        };
        for (int c = 0; c < CAUSE_COUNT; c++) {
                struct verdict_facts facts = {.latencies = 100, .cost_ratio = 1};
                for (int other = 0; other < CAUSE_COUNT; other++)
                        facts.cause_latency_cycles[other] = 1000;
                facts.cause_latency_cycles[c] = 1001;
                assert_int_equal(verdict_of(&facts), expected[c]);
        }
}

/* Most loads are L3's, but a faster DRAM would save more. */
TEST(what_held_up_the_program_decides)
{
        struct verdict_facts facts = {OF(2000, 5), .stalls = 5};
        facts.cause_latency_cycles[CAUSE_CACHE] = 164e3;
        facts.cause_latency_cycles[CAUSE_DRAM] = 131e3;
        facts.cause_retire_cycles[CAUSE_CACHE] = 15e3;
        facts.cause_retire_cycles[CAUSE_DRAM] = 36e3;
        assert_int_equal(verdict_of(&facts), VERDICT_DRAM_LATENCY);
        facts.stalls = 4.9; /* so few say little of what did */
        assert_int_equal(verdict_of(&facts), VERDICT_CACHE);
}
