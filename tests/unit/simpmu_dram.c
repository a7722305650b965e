/* SPDX-License-Identifier: MIT */
/* The simulated main memory against the formulas of dram.h: latency at a given traffic,
 * and the traffic that reads and writes together reach. */
#include "simpmu_rig.h"

/* With a slot of 1 ns: 16 GB/s, a line every 4 ns, and an idle latency of 80 ns. */
#define LINE_NS 4.0
#define IDLE_NS 80.0

static struct dram memory(double channels, double turnaround_ns, double write_batch)
{
        struct dram dram;
        const struct dram_timing timing = {
            .idle_latency_slots = IDLE_NS,
            .lines_per_slot = 1 / LINE_NS,
            .channels = channels,
            .turnaround_slots = turnaround_ns,
            .write_batch = write_batch,
        };

        dram_init(&dram, &timing, 1);
        return dram;
}

/* The latency after a long time with a read every PERIOD_NS and a write for every
 * READS_PER_WRITE of them (0: none). */
static double latency_at(struct dram dram, double period_ns, int reads_per_write)
{
        const int reads = 200000;
        uint64_t latency = 0;

        for (int i = 0; i < reads; i++) {
                uint64_t now = (uint64_t)(i * period_ns);
                dram_tick(&dram, now);
                latency = dram_read(&dram, now);
                if (reads_per_write > 0 && i % reads_per_write == 0)
                        dram_write(&dram, now);
        }
        return (double)latency;
}

static double queued(double utilisation, double service_ns)
{
        return IDLE_NS + service_ns * utilisation / (2 * (1 - utilisation));
}

static void latency_grows_as_a_queue_s_does(void **state)
{
        (void)state;
        for (double utilisation = 0.1; utilisation < 0.95; utilisation += 0.2) {
                double period = LINE_NS / utilisation;
                assert_near(latency_at(memory(1, 0, 1), period, 0),
                            queued(utilisation, LINE_NS), 0.02);
                /* Six channels are each a sixth as fast. */
                assert_near(latency_at(memory(6, 0, 1), period, 0),
                            queued(utilisation, 6 * LINE_NS), 0.02);
        }
}

/* Half as many writes as reads, in batches of 8, and a turn-round of 32 ns on each of two
 * channels: 2 ns more for each write. */
static void writes_and_turn_rounds_take_time(void **state)
{
        const double period = 10;
        const double utilisation = (1.5 * LINE_NS + 0.5 * 32 / 8 / 2) / period;

        (void)state;
        assert_near(latency_at(memory(2, 32, 8), period, 2),
                    queued(utilisation, 2 * LINE_NS), 0.02);
}

/* Stores alone read a line and write one: with a turn-round of T in batches of B the two
 * take 2 lines' time and T / B more. */
static void a_stream_of_stores_reaches_what_turn_rounds_leave(void **state)
{
        const uint64_t bytes = 32 * MIB;
        const double batch = 16, turnaround_ns = 64;
        const double line_ns = LINE_BYTES / 4.0; /* at 4 GB/s */
        struct simpmu_params params = default_params();
        uint64_t value[SIMPMU_COUNTER_COUNT];

        (void)state;
        params.dram_bandwidth_gbs = 4;
        params.dram_turnaround_ns = turnaround_ns;
        params.dram_write_batch = batch;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (uint64_t at = 0; at < bytes; at += LINE_BYTES)
                touch(rig, ACCESS_STORE, at, 8);
        counters(rig, 0, value);
        double ns = (double)value[SIMPMU_CYCLES] * 1000 / CLOCK_MHZ;
        double expected_ns =
            (double)bytes / LINE_BYTES * (2 * line_ns + turnaround_ns / batch);
        assert_near(ns, expected_ns, 0.07);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_teardown(latency_grows_as_a_queue_s_does, free_blocks),
            cmocka_unit_test_teardown(writes_and_turn_rounds_take_time, free_blocks),
            cmocka_unit_test_teardown(a_stream_of_stores_reaches_what_turn_rounds_leave,
                                      free_blocks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
