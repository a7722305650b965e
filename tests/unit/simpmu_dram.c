/* SPDX-License-Identifier: MIT */
/* The simulated main memory against the formulas of dram.h: latency at a given traffic,
 * and the traffic that reads and writes together reach. */
#include "simpmu_rig.h"

#include "model/kernel.h"

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

/* The mean latency over a long time of reads every PERIOD_NS, with half as many writes,
 * of which BURST come at once. */
static double mean_latency_beside_bursts(struct dram dram, uint64_t period_ns, int burst)
{
        const int reads = 200000, settled = reads / 2;
        uint64_t latencies = 0;

        for (int i = 0; i < reads; i++) {
                uint64_t now = (uint64_t)i * period_ns;
                dram_tick(&dram, now);
                uint64_t latency = dram_read(&dram, now);
                if (i >= settled)
                        latencies += latency;
                for (int k = 0; i % (2 * burst) == 0 && k < burst; k++)
                        dram_write(&dram, now);
        }
        return (double)latencies / (reads - settled);
}

/* Caches give up modified lines many at a time, which memory keeps and writes between its
 * reads: these wait as they do where the same writes come one by one. */
static void bursts_of_writes_count_at_their_mean_rate(void **state)
{
        const uint64_t period_ns = 8;
        const double utilisation = 1.5 * LINE_NS / (double)period_ns;
        const int bursts[] = {1, 8, 100, 128, 256}; /* memory does 256 lines in 1024 ns */

        (void)state;
        for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++)
                assert_near(
                    mean_latency_beside_bursts(memory(4, 0, 1), period_ns, bursts[i]),
                    queued(utilisation, 4 * LINE_NS), 0.02);
}

/* Nobody waits for a write, but each takes its time: beside bursts of them reads that ask
 * for more than the bandwidth get what the writes leave. */
static void no_write_is_forgotten(void **state)
{
        const uint64_t under_way = 64, rounds = 8000, apart = 20, burst = 640;
        struct dram dram = memory(4, 0, 1);
        uint64_t now = 0;

        (void)state;
        for (uint64_t round = 0; round < rounds; round++) {
                uint64_t latency = 0;
                dram_tick(&dram, now);
                for (uint64_t i = 0; i < under_way; i++)
                        latency = dram_read(&dram, now);
                for (uint64_t i = 0; round % apart == 0 && i < burst; i++)
                        dram_write(&dram, now);
                now += latency; /* the next when these have come */
        }
        uint64_t lines = rounds * under_way + rounds / apart * burst;
        assert_near((double)now, (double)lines * LINE_NS, 0.03);
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

/* ---- no more than the bandwidth, whatever the traffic is made of ---- */

#define CORES      4u
#define LINES_EACH (6 * MIB / LINE_BYTES)
#define FAST_MHZ   4500.0
#define APART      (4096 * MIB) /* of the threads' memory */
#define PAGE       4096ull

/* What each thread does for its line number STEP from ADDRESS on. */
typedef void step_fn(struct rig *rig, uint64_t address, uint64_t step);

static void read_and_write_streams(struct rig *rig, uint64_t address, uint64_t step)
{
        const uint64_t apart = 256 * MIB;

        address += step * LINE_BYTES;
        touch_at(rig, 1, ACCESS_LOAD, address, 12);
        touch_at(rig, 2, ACCESS_LOAD, address + apart, 12);
        touch_at(rig, 3, ACCESS_STORE, address + 2 * apart, 12);
}

static void store_here_and_there(struct rig *rig, uint64_t address, uint64_t step)
{
        touch(rig, ACCESS_STORE, address + scattered(step, 64 * MIB), 4);
        touch(rig, ACCESS_LOAD, address + 256 * MIB + step * LINE_BYTES, 4);
}

static void have_pages_written(struct rig *rig, uint64_t address, uint64_t step)
{
        struct sim_thread *thread = rig->threads[rig->running];
        const uint64_t lines = PAGE / LINE_BYTES;
        uint64_t now = rig->hot.instructions + thread->stall;

        if (step % lines == 0)
                thread_pause(thread,
                             kernel_write(&rig->machine, &rig->hot, thread,
                                          address + step * LINE_BYTES, PAGE, now));
}

static uint64_t clock_of(const struct rig *rig, uint32_t thread)
{
        uint64_t instructions =
            thread == rig->running ? rig->hot.instructions : rig->instructions[thread];

        return instructions + rig->threads[thread]->stall;
}

/* All threads run, no one further ahead of the last than the gate lets it. Returns what
 * memory moves, in GB/s. */
static double moved_gbs(struct rig *rig, step_fn *run_step)
{
        uint64_t done[CORES] = {0}, lines = 0, last = 0;

        for (;;) {
                uint32_t next = CORES;
                for (uint32_t i = 0; i < CORES; i++) {
                        if (done[i] < LINES_EACH &&
                            (next == CORES || clock_of(rig, i) < clock_of(rig, next)))
                                next = i;
                }
                if (next == CORES)
                        break;
                run_thread(rig, next);
                uint64_t end =
                    clock_of(rig, next) + GATE_CYCLES * rig->machine.slots_per_cycle;
                while (done[next] < LINES_EACH && clock_of(rig, next) < end)
                        run_step(rig, next * APART, done[next]++);
        }
        for (uint32_t i = 0; i < CORES; i++) {
                const struct sim_counters *counters = &rig->threads[i]->counters;
                lines += counters->dram_read_lines + counters->dram_write_lines;
                last = later(last, clock_of(rig, i));
        }
        return (double)(lines * LINE_BYTES) * machine_slots_per_ns(&rig->machine) /
               (double)last;
}

static void nothing_passes_faster_than_the_bandwidth(void **state)
{
        step_fn *const steps[] = {read_and_write_streams, store_here_and_there,
                                  have_pages_written};
        const uint32_t prefetch[] = {0, UINT32_MAX};
        struct simpmu_params params = default_params();

        (void)state;
        params.clock_mhz = FAST_MHZ;
        params.issue_width = 6;
        params.lfb_entries = 24;
        params.l2_queue_entries = 64;
        params.stream_lines = 64;
        params.l3_inclusion = INCLUSION_VICTIM;
        params.dram_channels = 2;
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
                for (size_t k = 0; k < 2; k++) {
                        struct rig *rig = rig_new(&params, CORES, NO_SAMPLES, 1);
                        rig->machine.prefetch = prefetch[k];
                        double gbs = moved_gbs(rig, steps[i]);
                        if (gbs > DRAM_GBS * 1.01 || gbs < DRAM_GBS * 0.9)
                                fail_msg("kind %zu, prefetch %#x: %g GB/s of %g", i,
                                         prefetch[k], gbs, DRAM_GBS);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_teardown(latency_grows_as_a_queue_s_does, free_blocks),
            cmocka_unit_test_teardown(writes_and_turn_rounds_take_time, free_blocks),
            cmocka_unit_test_teardown(bursts_of_writes_count_at_their_mean_rate,
                                      free_blocks),
            cmocka_unit_test_teardown(no_write_is_forgotten, free_blocks),
            cmocka_unit_test_teardown(a_stream_of_stores_reaches_what_turn_rounds_leave,
                                      free_blocks),
            cmocka_unit_test_teardown(nothing_passes_faster_than_the_bandwidth,
                                      free_blocks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
