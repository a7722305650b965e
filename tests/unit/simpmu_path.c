/* SPDX-License-Identifier: MIT */
/* The bounds of a core's streams: line intervals on the paths between caches, places
 * beyond L2 (Little's law), the load buffer and the ports. Also streams that run on. */
#include "simpmu_rig.h"

TEST(lines_follow_each_other_at_the_interval)
{
        const double intervals[] = {1.5, 8.5, 640, 10240};
        const uint64_t lines = 4096;
        for (size_t i = 0; i < LENGTH(intervals); i++) {
                struct path path;
                uint64_t last = 0;
                path_init(&path, intervals[i]);
                for (uint64_t line = 0; line < lines; line++)
                        last = path_take(&path, last);
                assert_near((double)last, (double)(lines - 1) * intervals[i], 0.05);
        }
}

/* A line whose address comes late does not delay others, nor does an idle path. */
TEST(a_line_to_come_holds_up_no_earlier_one)
{
        struct path path;
        path_init(&path, 10);
        assert_int_equal(path_take(&path, 5000), 5000);
        assert_int_equal(path_take(&path, 100), 100);
        assert_int_equal(path_take(&path, 3000), 3000);
        assert_int_equal(path_take(&path, 200), 200);
}

/* Cycles from line to line of a stream of loads that has come to its pace. */
static double stream_cycles(const struct simpmu_params *params, uint32_t prefetch)
{
        const uint64_t lines = 32768;
        struct rig *rig = rig_new(params, 1, NO_SAMPLES, 1);
        rig->machine.prefetch = prefetch;
        read_again(rig, lines * LINE_BYTES);
        return (double)now_cycles(rig, 0) / (double)lines;
}

TEST(places_and_latency_are_the_bandwidth_of_a_stream)
{
        const uint32_t places[] = {8, 16, 24};
        struct simpmu_params params = params_without_walks();
        params.stream_lines = 64;
        params.dram_bandwidth_gbs = 1000;
        for (size_t i = 0; i < LENGTH(places); i++) {
                params.l2_queue_entries = places[i];
                assert_near(stream_cycles(&params, 1u << SIMPMU_L2_STREAMER),
                            DRAM_CYCLES / (double)places[i], 0.1);
        }
}

TEST(the_path_bounds_a_stream)
{
        struct simpmu_params params = params_without_walks();
        params.l2_queue_entries = 64;
        params.stream_lines = 128;
        params.l3_bytes_per_cycle = 4;
        assert_near(stream_cycles(&params, 1u << SIMPMU_L2_STREAMER), 16, 0.03);
}

/* Each page costs a stream that stops at its end the latency of its first lines. */
TEST(a_stream_that_runs_on_loses_nothing_between_pages)
{
        struct simpmu_params params = params_without_walks();
        params.lfb_entries = 1;
        double on = stream_cycles(&params, 1u << SIMPMU_L2_STREAMER);
        params.next_page = 0;
        double stops = stream_cycles(&params, 1u << SIMPMU_L2_STREAMER);
        assert_true((stops - on) * 64 > 2 * DRAM_CYCLES);
}

/* Loads that all miss, with a fill buffer each: the load buffer bounds them. */
TEST(the_load_buffer_bounds_the_overlap)
{
        const uint64_t loads = 20000;
        struct simpmu_params params = params_without_walks();
        params.lfb_entries = 32;
        params.l2_queue_entries = 64;
        params.load_buffer_entries = 8;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        load_scattered(rig, loads, 1);
        assert_near((double)now_cycles(rig, 0) / (double)loads, DRAM_CYCLES / 8.0, 0.05);
}

/* Cycles of a block of 16 instructions that hit L1. NO_EXECUTE: idle cycles. */
static double block_cycles(uint64_t loads, uint64_t stores, uint64_t *no_execute)
{
        const uint64_t rounds = 10000;
        struct simpmu_params params = default_params();
        params.load_ports = 2;
        params.store_ports = 1;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (uint64_t round = 0; round < rounds; round++) {
                rig->hot.instructions += 16;
                rig->hot.loads += loads;
                rig->hot.stores += stores;
                thread_look_at_code(&rig->hot, rig->threads[0]);
        }
        const uint64_t *value = read_counters(rig, 0);
        *no_execute = value[SIMPMU_NO_EXECUTE];
        return (double)value[SIMPMU_CYCLES] / (double)rounds;
}

/* Four instructions issue in a cycle, with at most two loads and one store. */
TEST(ports_bound_loads_and_stores)
{
        const struct {
                uint64_t loads, stores;
                double cycles;
        } mixes[] = {{0, 0, 4},  {8, 4, 4}, {12, 0, 6},
                     {16, 0, 8}, {8, 8, 8}, {0, 16, 16}};
        uint64_t no_execute;
        for (size_t i = 0; i < LENGTH(mixes); i++) {
                assert_near(block_cycles(mixes[i].loads, mixes[i].stores, &no_execute),
                            mixes[i].cycles, 0.001);
                assert_int_equal(no_execute, 0);
        }
}

/* Cycles of a load within a line in L1, or of a load across two lines. */
static double load_cycles(uint64_t offset, uint64_t *split)
{
        const uint64_t rounds = 4000, loads = 16;
        struct simpmu_params params = default_params();
        params.load_ports = 2;
        params.store_ports = 1;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (uint64_t round = 0; round < rounds; round++) {
                for (uint64_t i = 0; i < loads; i++)
                        touch(rig, ACCESS_LOAD, MIB + i * LINE_BYTES + offset, 1);
                rig->hot.loads += loads;
                thread_look_at_code(&rig->hot, rig->threads[0]);
        }
        const uint64_t *value = read_counters(rig, 0);
        *split = value[SIMPMU_SPLIT_LOADS];
        return (double)value[SIMPMU_CYCLES] / (double)(rounds * loads);
}

/* A load across a line border uses a port twice. */
TEST(split_loads_take_two_turns)
{
        uint64_t split;
        assert_near(load_cycles(0, &split), 0.5, 0.02);
        assert_int_equal(split, 0);
        assert_near(load_cycles(LINE_BYTES - 4, &split), 1, 0.02);
        assert_int_equal(split, 4000 * 16);
}

static void *note_store(const struct sim_sample *sample)
{
        last_sample = *sample;
        return NULL;
}

/* Misses of a column of rows of ROW_BYTES; STREAM: every eighth is beside. */
static uint32_t sets_of_column(enum access_kind kind, uint64_t row_bytes, bool stream)
{
        const uint64_t elsewhere = 64 * MIB + 5 * LINE_BYTES; /* outside these sets */
        struct rig *rig = default_rig(1, 1, 1);
        rig->machine.on_store = note_store;
        for (uint64_t pass = 0; pass < 3; pass++)
                for (uint64_t row = 0; row < 512; row++) {
                        if (stream && row % 8 == 0)
                                touch(rig, kind, (pass * 64 + row / 8) * 64, 4);
                        touch(rig, kind, MIB + row * row_bytes, 4);
                }
        uint32_t sets = last_sample.few_sets;
        touch(rig, kind, elsewhere, 4);
        assert_int_equal(last_sample.few_sets, 0);
        return sets;
}

/* 512 lines that are 2 KiB apart are in 2 of 64 sets, others in more. */
TEST(columns_use_few_sets)
{
        for (enum access_kind kind = ACCESS_LOAD; kind <= ACCESS_STORE; kind++) {
                assert_int_equal(sets_of_column(kind, 2048, false), 2);
                assert_int_equal(sets_of_column(kind, 4096, false), 1);
                assert_int_equal(sets_of_column(kind, 4096, true), 1);
                assert_int_equal(sets_of_column(kind, 2048 + 64, false), 0);
                assert_int_equal(sets_of_column(kind, 2048 + 64, true), 0);
                assert_int_equal(sets_of_column(kind, 64 * 9, false), 0);
        }
}

/* L1 misses of the loads of 256 lines that are 4 KiB apart, for the second time. */
static uint64_t second_misses(bool hashed)
{
        struct simpmu_params params = params_without_walks();
        uint64_t first[SIMPMU_COUNTER_COUNT] = {0}, all[SIMPMU_COUNTER_COUNT];
        params.l1d_hashed = params.l2_hashed = hashed;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (int pass = 0; pass < 2; pass++) {
                counters(rig, 0, first);
                for (uint64_t row = 0; row < 256; row++)
                        touch(rig, ACCESS_LOAD, row * 4096, 4);
        }
        counters(rig, 0, all);
        return all[SIMPMU_L1_MISS] - first[SIMPMU_L1_MISS];
}

/* Half as many lines as L1 has fit into all of its sets, but not into one. */
TEST(hashed_sets_hold_a_column)
{
        assert_int_equal(second_misses(false), 256);
        assert_int_equal(second_misses(true), 0);
}

/* Cycles from miss to miss of LINES lines that are loaded in turns, and stored if
 * MODIFIED, in one set of L1 or in all. */
static double line_cycles(const struct simpmu_params *params, bool modified,
                          uint64_t lines, bool one_set)
{
        const uint64_t rounds = 16, sets = 64;
        const uint64_t step = one_set ? sets * LINE_BYTES : LINE_BYTES;
        struct rig *rig = rig_new(params, 1, NO_SAMPLES, 1);
        uint64_t first[SIMPMU_COUNTER_COUNT] = {0}, all[SIMPMU_COUNTER_COUNT];
        for (uint64_t round = 0; round <= rounds; round++) {
                for (uint64_t i = 0; i < lines; i++) {
                        touch(rig, ACCESS_LOAD, i * step, 4);
                        if (modified)
                                touch(rig, ACCESS_STORE, i * step, 4);
                }
                if (round == 0)
                        counters(rig, 0, first);
        }
        counters(rig, 0, all);
        return (double)(all[SIMPMU_CYCLES] - first[SIMPMU_CYCLES]) /
               (double)(all[SIMPMU_L1_MISS] - first[SIMPMU_L1_MISS]);
}

static double set_cycles(const struct simpmu_params *params, uint64_t lines, bool one_set)
{
        return line_cycles(params, false, lines, one_set);
}

/* Six times the ways of a set fit into L2, four times L2 into L3. */
TEST(a_set_takes_a_line_in_its_interval)
{
        struct simpmu_params params = params_without_walks();
        const uint64_t one_in_l2 = 48, all_in_l2 = 2048;
        const uint64_t one_in_l3 = 512, all_in_l3 = 16 * KIB;
        double one_l2 = set_cycles(&params, one_in_l2, true);
        double all_l2 = set_cycles(&params, all_in_l2, false);
        double one_l3 = set_cycles(&params, one_in_l3, true);
        double all_l3 = set_cycles(&params, all_in_l3, false);
        params.set_interval_l2_cycles = 7.5;
        params.set_interval_l3_cycles = 16;
        assert_true(one_l2 < 7.5 / 2);
        assert_true(one_l3 < 16.0 / 2);
        assert_near(set_cycles(&params, one_in_l2, true), 7.5, 0.03);
        assert_near(set_cycles(&params, one_in_l3, true), 16, 0.03);
        assert_near(set_cycles(&params, all_in_l2, false), all_l2, 0.01);
        assert_near(set_cycles(&params, all_in_l3, false), all_l3, 0.01);
}

/* Unless they have a path of their own, as on an EPYC of family 25: there 2048 lines out
 * of L2 take 2.0 cycles each, modified or not. In one set of L1, modified lines out of L3
 * take 32 cycles there instead of 13. */
TEST(modified_lines_that_leave_take_the_path_and_the_set)
{
        struct simpmu_params params = params_without_walks();
        const uint64_t one_in_l2 = 48, all_in_l2 = 2048, one_in_l3 = 512;
        params.l2_bytes_per_cycle = 32;
        assert_near(line_cycles(&params, false, all_in_l2, false), 2, 0.03);
        assert_near(line_cycles(&params, true, all_in_l2, false), 4, 0.03);
        params.l2_write_path = 1;
        assert_near(line_cycles(&params, true, all_in_l2, false), 2, 0.03);
        params.set_interval_l2_cycles = 7.5;
        params.set_interval_l3_cycles = 16;
        assert_near(line_cycles(&params, true, one_in_l2, true), 15, 0.05);
        assert_near(line_cycles(&params, true, one_in_l3, true), 32, 0.03);
}

/* A line that comes late leaves its set to lines that come long before. */
TEST(a_line_to_come_leaves_the_set_to_earlier_ones)
{
        struct l1d l1d;
        l1d_init(&l1d, 512, 8, false, allocate);
        assert_int_equal(l1d_take_turn(&l1d, 0, 5000, 10), 5000);
        assert_int_equal(l1d_take_turn(&l1d, 64, 100, 10), 100);
        assert_int_equal(l1d_take_turn(&l1d, 128, 4995, 10), 5010);
        assert_int_equal(l1d_take_turn(&l1d, 192, 5001, 10), 5020);
        assert_int_equal(l1d_take_turn(&l1d, 1, 5001, 10), 5001);
        assert_int_equal(l1d_take_turn(&l1d, 256, 5040, 10), 5040);
}
