/* SPDX-License-Identifier: MIT */
/* What makes misses come soonest while buffers are full. The expected shares follow from
 * Little's law and the latencies of the machine. */
#include "buffers.h"
#include "rule_machine.h"
#include "unit_test.h"

#define AT(at, cycles) .level = LEVEL_##at, .latency_cycles = (cycles)
#define FULL           .interval_buffers_full = true, .bandwidth_short = ANSWER_NO

static void add(struct buffer_use *use, int samples, double path_use,
                const struct sample_facts *sample)
{
        for (int i = 0; i < samples; i++)
                buffer_use_add(use, sample, &machine, path_use);
}

/* Adds SAMPLES accesses with these facts, members of struct sample_facts. */
#define add_of(use, samples, ...)                                                        \
        add(use, samples, NAN, &(struct sample_facts){FULL, __VA_ARGS__})

static enum cause cause_of_dram(int samples, int64_t latency_cycles, double path_use)
{
        struct buffer_use use = {0};
        add(&use, samples, path_use,
            &(struct sample_facts){FULL, AT(DRAM, latency_cycles)});
        return buffer_use_cause(&use);
}

TEST(more_buffers_save_the_wait_for_one_and_nearer_dram_a_part_of_its_latency)
{
        /* DRAM as near as L3 saves 140 of 200 cycles: 0.7. */
        assert_int_equal(cause_of_dram(20, 200, NAN), CAUSE_DRAM);
        assert_int_equal(cause_of_dram(20, 660, NAN), CAUSE_DRAM);
        assert_int_equal(cause_of_dram(20, 680, NAN), CAUSE_IN_CORE);
        assert_int_equal(cause_of_dram(19, 680, NAN), CAUSE_NONE);
}

TEST(lines_that_need_buffers_longest_are_the_cause)
{
        /* L3 needs 40 × 60 cycles, of which L2 saves 46 each; DRAM 10 × 200. */
        struct buffer_use use = {0};
        add_of(&use, 10, AT(DRAM, 200));
        add_of(&use, 40, AT(L3, 60));
        assert_int_equal(buffer_use_cause(&use), CAUSE_CACHE);
        add_of(&use, 10, AT(DRAM, 200));
        assert_int_equal(buffer_use_cause(&use), CAUSE_DRAM);
}

TEST(lines_from_l2_wait_for_its_path_or_for_the_buffers_of_others)
{
        struct buffer_use use = {0};
        add_of(&use, 20, AT(L2, 140));
        assert_int_equal(buffer_use_cause(&use), CAUSE_CACHE);
        add_of(&use, 20, AT(DRAM, 900));
        assert_int_equal(buffer_use_cause(&use), CAUSE_IN_CORE);
}

TEST(a_full_path_from_l3_leaves_nothing_to_more_buffers)
{
        /* 0.8 of the path is full, so a use of 0.6 leaves a quarter. */
        struct buffer_use use = {0};
        const struct sample_facts far = {FULL, AT(DRAM, 900)};
        const struct sample_facts near = {FULL, AT(L3, 900)};
        add(&use, 10, 0.6, &far);
        add(&use, 20, 0.6, &near);
        assert_int_equal(buffer_use_cause(&use), CAUSE_CACHE);
        use = (struct buffer_use){0};
        add(&use, 10, 0.1, &far);
        add(&use, 20, 0.1, &near);
        assert_int_equal(buffer_use_cause(&use), CAUSE_IN_CORE);
        assert_int_equal(cause_of_dram(20, 900, 0.9), CAUSE_CACHE);
}

TEST(stores_hold_buffers_and_need_no_nearer_dram)
{
        struct buffer_use use = {0};
        add_of(&use, 20, AT(DRAM, 600));
        assert_int_equal(buffer_use_cause(&use), CAUSE_DRAM);
        add_of(&use, 20, AT(DRAM, 600), .store = true);
        assert_int_equal(buffer_use_cause(&use), CAUSE_IN_CORE);
}

TEST(only_requests_while_buffers_were_full_count)
{
        const struct sample_facts other[] = {
            {AT(DRAM, 900)},
            {AT(DRAM, 900), .interval_lacks_buffers = true},
            {FULL, AT(DRAM, 900), .tlb_missed = true},
            {FULL, AT(DRAM, -1)},
            {FULL, AT(LFB, 900)},
            {FULL, AT(L1, 900)},
            {.interval_buffers_full = true, .bandwidth_short = ANSWER_YES, AT(DRAM, 900)},
        };
        for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
                struct buffer_use use = {0};
                add(&use, 20, NAN, &other[i]);
                assert_int_equal(buffer_use_cause(&use), CAUSE_NONE);
        }
}

TEST(an_unknown_latency_gives_no_cause)
{
        struct machine_facts unknown = machine;
        unknown.l3_latency_cycles = NAN;
        struct buffer_use use = {0};
        const struct sample_facts sample = {FULL, AT(DRAM, 900)};
        for (int i = 0; i < 20; i++)
                buffer_use_add(&use, &sample, &unknown, NAN);
        assert_int_equal(buffer_use_cause(&use), CAUSE_NONE);
}
