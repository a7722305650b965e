/* SPDX-License-Identifier: MIT */
/* Counter values of threads become intervals with metrics known by arithmetic. */
#include "analysis_test.h"
#include "counters.h"
#include "interval.h"
#include "unit_test.h"

static const bool all_known[CONCEPT_COUNT] = {true,  true, true, true, true,
                                              false, true, true, true};

static struct thread_reading reading(int64_t start_ns, int64_t end_ns, double cycles,
                                     double pending)
{
        struct thread_reading r = {.start_ns = start_ns, .end_ns = end_ns};
        r.gained[CONCEPT_CYCLES] = cycles;
        r.gained[CONCEPT_PENDING] = pending;
        return r;
}

TEST(event_names_of_every_generation_are_known)
{
        /* Names as in Intel's perfmon lists. */
        assert_int_equal(counter_concept("MEM_LOAD_UOPS_RETIRED.HIT_LFB"),
                         CONCEPT_FB_HIT);
        assert_int_equal(counter_concept("mem_load_retired.fb_hit"), CONCEPT_FB_HIT);
        assert_int_equal(counter_concept("MEM_LOAD_COMPLETED.L1_MISS_ANY"),
                         CONCEPT_L1_MISS_ANY);
        assert_int_equal(counter_concept("l1d_pend_miss.pending_cycles"), CONCEPT_NONE);
}

/* H20: LMRL = alpha / (beta + gamma), L1 miss latency = alpha / beta. */
TEST(metrics_follow_the_formulas)
{
        struct interval interval = {.start_ns = 0, .end_ns = 1000000};
        interval.gained[CONCEPT_CYCLES] = 4000000;
        interval.gained[CONCEPT_INSTRUCTIONS] = 1000000;
        interval.gained[CONCEPT_PENDING] = 600000;
        interval.gained[CONCEPT_L1_MISS] = 2000;
        interval.gained[CONCEPT_FB_HIT] = 1000;
        interval.gained[CONCEPT_FB_FULL] = 1000000;
        interval.gained[CONCEPT_DRAM_READ] = 3e6;  /* bytes in 1 ms: 3 GB/s */
        interval.gained[CONCEPT_DRAM_WRITE] = 1e6; /* 1 GB/s */
        interval.memory_cycles = 4000000;
        struct interval_metrics m = interval_metrics(&interval, all_known, 2000);
        assert_near(m.lmrl_cycles, 200, 1e-9);
        assert_near(m.l1_miss_latency_cycles, 300, 1e-9);
        assert_near(m.fb_full_ratio, 0.25, 1e-9);
        assert_near(m.buffers_full_ratio, 0.25, 1e-9);
        assert_near(m.read_gbs, 3, 1e-9);
        assert_near(m.write_gbs, 1, 1e-9);
        /* 4 million cycles in 1 ms at 2 GHz: two cores. */
        assert_near(m.active_cores, 2, 1e-9);
        assert_near(m.used_cores, 2, 1e-9);
        assert_near(m.instructions_per_cycle, 0.25, 1e-9);
}

TEST(one_event_for_both_kinds_of_miss_is_enough)
{
        bool known[CONCEPT_COUNT] = {false};
        known[CONCEPT_PENDING] = known[CONCEPT_L1_MISS_ANY] = true;
        struct interval interval = {.end_ns = 1};
        interval.gained[CONCEPT_PENDING] = 1000;
        interval.gained[CONCEPT_L1_MISS_ANY] = 10;
        assert_near(interval_metrics(&interval, known, NAN).lmrl_cycles, 100, 1e-9);
}

/* M17 adds the cycles with a full queue beyond L2, on CPUs that count them. */
TEST(buffers_are_full_where_the_queue_is)
{
        bool known[CONCEPT_COUNT] = {false};
        known[CONCEPT_CYCLES] = known[CONCEPT_FB_FULL] = known[CONCEPT_SQ_FULL] = true;
        struct interval interval = {.end_ns = 1000};
        interval.gained[CONCEPT_CYCLES] = 1000;
        interval.gained[CONCEPT_FB_FULL] = 20;
        interval.gained[CONCEPT_SQ_FULL] = 40;
        struct interval_metrics m = interval_metrics(&interval, known, 2000);
        assert_near(m.fb_full_ratio, 0.02, 1e-9);
        assert_near(m.buffers_full_ratio, 0.06, 1e-9);
        known[CONCEPT_SQ_FULL] = false;
        m = interval_metrics(&interval, known, 2000);
        assert_near(m.buffers_full_ratio, 0.02, 1e-9);
}

TEST(what_was_not_counted_is_not_known)
{
        bool known[CONCEPT_COUNT] = {false};
        known[CONCEPT_PENDING] = known[CONCEPT_L1_MISS] = true; /* no fill buffer hits */
        struct interval interval = {.end_ns = 1000};
        interval.gained[CONCEPT_PENDING] = 1000;
        interval.gained[CONCEPT_L1_MISS] = 10;
        struct interval_metrics m = interval_metrics(&interval, known, 2000);
        assert_true(isnan(m.lmrl_cycles));
        assert_near(m.l1_miss_latency_cycles, 100, 1e-9);
        assert_true(isnan(m.read_gbs));
        assert_true(isnan(m.active_cores));
}

TEST(threads_are_summed_and_only_memory_threads_are_active)
{
        struct interval_series series;
        interval_series_init(&series, 1000);
        struct thread_reading busy = reading(0, 1000, 2000, 200); /* a tenth: counts */
        struct thread_reading quiet = reading(0, 1000, 2000, 199);
        assert_ok(interval_series_add(&series, &busy));
        assert_ok(interval_series_add(&series, &quiet));
        assert_int_equal(series.count, 1);
        assert_near(series.intervals[0].gained[CONCEPT_CYCLES], 4000, 1e-9);
        assert_near(series.intervals[0].memory_cycles, 2000, 1e-9);
        /* One that loads nothing, but waits for its stores a tenth of the time. */
        struct thread_reading stores = reading(0, 1000, 3000, 0);
        stores.gained[CONCEPT_STORE_BUFFER] = 300;
        assert_ok(interval_series_add(&series, &stores));
        assert_near(series.intervals[0].memory_cycles, 5000, 1e-9);
        stores.gained[CONCEPT_STORE_BUFFER] = 299;
        assert_ok(interval_series_add(&series, &stores));
        assert_near(series.intervals[0].memory_cycles, 5000, 1e-9);
        interval_series_free(&series);
}

TEST(a_late_reading_is_split_in_proportion_to_time)
{
        struct interval_series series;
        interval_series_init(&series, 1000);
        struct thread_reading late = reading(500, 3000, 2500, 0);
        assert_ok(interval_series_add(&series, &late));
        assert_int_equal(series.count, 3);
        assert_near(series.intervals[0].gained[CONCEPT_CYCLES], 500, 1e-9);
        assert_near(series.intervals[1].gained[CONCEPT_CYCLES], 1000, 1e-9);
        assert_near(series.intervals[2].gained[CONCEPT_CYCLES], 1000, 1e-9);
        interval_series_free(&series);
}

TEST(the_first_and_last_interval_are_as_long_as_the_run)
{
        struct interval_series series;
        interval_series_init(&series, 1000);
        struct thread_reading first = reading(200, 1000, 1, 0);
        struct thread_reading last = reading(2000, 2300, 1, 0);
        assert_ok(interval_series_add(&series, &first));
        assert_ok(interval_series_add(&series, &last));
        int64_t start_ns, end_ns;
        interval_span(&series, 0, &start_ns, &end_ns);
        assert_int_equal(start_ns, 200);
        assert_int_equal(end_ns, 1000);
        interval_span(&series, 2, &start_ns, &end_ns);
        assert_int_equal(start_ns, 2000);
        assert_int_equal(end_ns, 2300);
        interval_series_free(&series);
}

TEST(impossible_times_are_refused)
{
        struct interval_series series;
        interval_series_init(&series, 1000);
        struct thread_reading bad[] = {
            reading(10, 10, 1, 0),
            reading(10, 5, 1, 0),
            reading(-5, 5, 1, 0),
            reading(0, INT64_MAX, 1, 0),
        };
        for (size_t i = 0; i < LENGTH(bad); i++)
                assert_int_equal(interval_series_add(&series, &bad[i]), -EINVAL);
        assert_int_equal(series.count, 0);
        interval_series_free(&series);
}
