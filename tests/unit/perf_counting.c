/* SPDX-License-Identifier: MIT */
/* Counter increments, on openings whose true counts are known by construction. */
#define TEST_SETUP    begin
#define TEST_TEARDOWN end
#include "counting.h"
#include "unit_test.h"

enum { MS = 1000000, BEGIN_NS = 5 };

static struct plan_event counter(const char *name, uint32_t type, uint64_t config,
                                 uint64_t scale)
{
        return (struct plan_event){.attr = {.type = type, .config = config},
                                   .use = PLAN_COUNTER,
                                   .name = name,
                                   .unit = "events",
                                   .scale = scale};
}

/* Two groups that share the cycles; two memory controllers; and a group that samples. */
static struct plan_group groups[5];
static struct plan plan = {.groups = groups, .group_count = 5};

static struct counting *counting;

static int begin(void **state)
{
        groups[0] = (struct plan_group){.count = 1};
        groups[0].events[0] = (struct plan_event){
            .attr = {.type = 4, .config = 0x1cd}, .use = PLAN_LOADS, .scale = 1};
        groups[1] = (struct plan_group){.count = 2};
        groups[1].events[0] = counter("pending", 4, 0x148, 1);
        groups[1].events[1] = counter("cycles", 4, 0x3c, 1);
        groups[2] = (struct plan_group){.count = 2};
        groups[2].events[0] = counter("fb_full", 4, 0x248, 1);
        groups[2].events[1] = counter("cycles", 4, 0x3c, 1);
        groups[3] = (struct plan_group){.count = 1};
        groups[3].events[0] = counter("bytes", 20, 0x304, 64);
        groups[4] = (struct plan_group){.count = 1};
        groups[4].events[0] = counter("bytes", 21, 0x304, 64);
        counting = counting_new(&plan, BEGIN_NS);
        return counting ? 0 : -1;
}

static int end(void **state)
{
        counting_free(counting);
        return 0;
}

static struct counting_gain gains[8];
static struct counting_missed missed;
static size_t gain_count;

static uint64_t gain_of(const char *name)
{
        for (size_t i = 0; i < gain_count; i++)
                if (strcmp(gains[i].name, name) == 0)
                        return gains[i].value;
        return UINT64_MAX;
}

static void report(int64_t now_ns)
{
        gain_count = counting_gains(counting, now_ns, gains, &missed);
}

static void assert_pending(int64_t now_ns, uint64_t pending)
{
        report(now_ns);
        assert_int_equal(gain_of("pending"), pending);
}

/* What the report at NOW_NS has of three counters. UINT64_MAX: nothing. */
static void assert_gains(int64_t now_ns, uint64_t pending, uint64_t cycles,
                         uint64_t fb_full)
{
        assert_pending(now_ns, pending);
        assert_int_equal(gain_of("cycles"), cycles);
        assert_int_equal(gain_of("fb_full"), fb_full);
}

static size_t open_group(size_t group)
{
        size_t opening;
        assert_ok(counting_open(counting, group, &opening));
        return opening;
}

/* An opening of a group with two counters, at 3 and 2 counts a nanosecond. */
static void add_group(size_t opening, uint64_t there, uint64_t running)
{
        uint64_t values[2] = {3 * running, 2 * running};
        counting_add(counting, opening, there, running, values);
}

/* Two groups that both run all the time: nothing is estimated or counted twice. */
TEST(all_the_time)
{
        size_t first = open_group(1), second = open_group(2);
        assert_int_equal(counting_names(counting), 4);
        for (int i = 1; i <= 2; i++) {
                add_group(first, (uint64_t)i * 10 * MS, (uint64_t)i * 10 * MS);
                add_group(second, (uint64_t)i * 10 * MS, (uint64_t)i * 10 * MS);
                assert_gains(i * 100, 30 * MS, 20 * MS, 30 * MS);
                assert_int_equal(missed.counters_ns, 0);
                assert_int_equal(gains[0].start_ns, i == 1 ? BEGIN_NS : 100);
        }
}

/* They take turns: 6 of 10 ms and 4 of 10 ms. */
TEST(in_turns)
{
        size_t first = open_group(1), second = open_group(2);
        size_t samples = open_group(0);
        add_group(first, 10 * MS, 6 * MS);
        add_group(second, 10 * MS, 4 * MS);
        counting_add(counting, samples, 10 * MS, 9 * MS, NULL);
        assert_gains(100, 30 * MS, 20 * MS, 30 * MS);
        assert_int_equal(missed.counters_ns, (4 + 6) * MS);
        assert_int_equal(missed.samples_ns, 1 * MS);
}

/* A counter that did not run is reported at its next reading, for the whole time. */
TEST(not_at_all)
{
        size_t first = open_group(1), second = open_group(2);
        add_group(first, 10 * MS, 10 * MS);
        add_group(second, 10 * MS, 0);
        assert_gains(100, 30 * MS, 20 * MS, UINT64_MAX);
        add_group(first, 20 * MS, 10 * MS);
        add_group(second, 20 * MS, 10 * MS);
        assert_gains(200, UINT64_MAX, 20 * MS, 60 * MS); /* of 20 ms */
        assert_int_equal(gains[0].start_ns, BEGIN_NS);   /* by ascending start */
        assert_string_equal(gains[0].name, "fb_full");
}

/* Two tasks use this CPU, but one mostly runs elsewhere: nothing is estimated. */
TEST(several_openings)
{
        size_t first = open_group(1), second = open_group(1);
        add_group(first, 2 * MS, 2 * MS);
        add_group(second, 5 * MS, 5 * MS);
        assert_pending(100, 21 * MS);
        assert_int_equal(missed.counters_ns, 0);
        /* Nobody was here: nothing was gained, and nothing missed. */
        add_group(first, 2 * MS, 2 * MS);
        add_group(second, 5 * MS, 5 * MS);
        assert_pending(200, 0);
}

/* An unreadable opening takes nothing from the others. It counts again once readable. */
TEST(one_opening_stops)
{
        size_t first = open_group(1), second = open_group(1);
        add_group(first, 50 * MS, 50 * MS);
        add_group(second, 5 * MS, 5 * MS);
        assert_pending(100, 3 * 55 * MS);
        for (uint64_t i = 1; i <= 3; i++) {
                add_group(second, (5 + i) * MS, (5 + i) * MS);
                assert_pending((int64_t)(i + 1) * 100, 3 * MS);
                assert_int_equal(gain_of("cycles"), 2 * MS);
                assert_int_equal(missed.counters_ns, 0);
        }
        add_group(first, 51 * MS, 51 * MS);
        add_group(second, 9 * MS, 9 * MS);
        assert_pending(500, 6 * MS);
        /* A count that falls is no count. */
        add_group(first, 20 * MS, 20 * MS);
        add_group(second, 10 * MS, 10 * MS);
        assert_pending(600, 3 * MS);
}

/* Memory controllers count different things: they are added up, in bytes. */
TEST(controllers_are_added_up)
{
        size_t one = open_group(3), other = open_group(4);
        uint64_t first = 1000, second = 500;
        counting_add(counting, one, 10 * MS, 10 * MS, &first);
        counting_add(counting, other, 10 * MS, 10 * MS, &second);
        report(100);
        assert_int_equal(gain_of("bytes"), 1500 * 64);
}

/* The time there is read a moment before the time running. */
TEST(moments_between_readings)
{
        size_t opening = open_group(1);
        add_group(opening, 10 * MS, 10 * MS + 5000);
        assert_pending(100, 30 * MS + 15000);
        add_group(opening, 20 * MS + 5000, 20 * MS + 1000);
        assert_pending(200, 30 * MS - 12000);
        assert_int_equal(missed.counters_ns, 0);
}

/* A counter that was never read is not zero: opening failed, or it is for other CPUs. */
TEST(not_open)
{
        size_t opening = open_group(1);
        add_group(opening, 10 * MS, 10 * MS);
        assert_gains(100, 30 * MS, 20 * MS, UINT64_MAX);
        assert_int_equal(gain_of("bytes"), UINT64_MAX);
        assert_int_equal(gain_count, 2);
}
