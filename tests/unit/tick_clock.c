/* SPDX-License-Identifier: MIT */
/* Ticks of a counter with a chosen rate that changes. */
#include "tick_clock.h"
#include "unit_test.h"

/* 2.5 ticks a nanosecond. */
static uint64_t ticks_at(int64_t ns)
{
        return UINT64_C(1000000000000) + (uint64_t)ns * 5 / 2;
}

TEST(times_between_two_readings_are_those_of_the_rate)
{
        struct tick_clock clock = {0};
        tick_clock_note(&clock, ticks_at(5000), 5000);
        tick_clock_note(&clock, ticks_at(10005000), 10005000);
        for (int64_t ns = 5000; ns < 10005000; ns += 77777) {
                int64_t told = tick_clock_ns(&clock, ticks_at(ns));
                assert_true(told == ns || told == ns - 1); /* rounded down */
        }
}

TEST(times_behind_the_last_reading_go_on_at_its_rate)
{
        struct tick_clock clock = {0};
        tick_clock_note(&clock, ticks_at(0), 0);
        tick_clock_note(&clock, ticks_at(1000000), 1000000);
        int64_t told = tick_clock_ns(&clock, ticks_at(1500000));
        assert_true(told == 1500000 || told == 1499999);
}

/* The time never goes back: readings are 300 ns wrong by turns. */
TEST(later_ticks_never_have_an_earlier_time)
{
        struct tick_clock clock = {0};
        int64_t before = 0;
        for (int64_t ns = 0; ns < 400000000; ns += 100000) {
                if (ns % 1000000 == 0)
                        tick_clock_note(&clock, ticks_at(ns),
                                        ns + (ns % 2000000 ? 300 : 0));
                int64_t told = tick_clock_ns(&clock, ticks_at(ns + 50000));
                assert_true(told >= before);
                if (ns > 2000000)
                        assert_in_range(told, ns + 49000, ns + 51000);
                before = told;
        }
}

TEST(nothing_is_known_of_other_times)
{
        struct tick_clock clock = {0};
        assert_ok(tick_clock_ns(&clock, 12345));
        tick_clock_note(&clock, ticks_at(1000), 1000);
        assert_int_equal(tick_clock_ns(&clock, ticks_at(1000000)), 1000);
        tick_clock_note(&clock, ticks_at(2000), 2000);
        assert_int_equal(tick_clock_ns(&clock, 0), 1000);
        assert_int_equal(tick_clock_ns(&clock, UINT64_MAX), 2000);
        tick_clock_note(&clock, ticks_at(1500), 9000); /* too late */
        tick_clock_note(&clock, ticks_at(3000), 3000);
        int64_t told = tick_clock_ns(&clock, ticks_at(2500));
        assert_true(told == 2500 || told == 2499);
}

/* A thread may be delayed before it reports a time, while many readings are made. */
TEST(times_before_the_readings_kept_are_those_of_the_rate)
{
        struct tick_clock clock = {0};
        for (int64_t ns = 0; ns < 300 * 1000; ns += 1000)
                tick_clock_note(&clock, ticks_at(ns), ns);
        for (int64_t ns = 500; ns < 300 * 1000; ns += 777)
                assert_in_range(tick_clock_ns(&clock, ticks_at(ns)), ns - 1, ns);
}
