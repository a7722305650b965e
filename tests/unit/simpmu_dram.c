/* SPDX-License-Identifier: MIT */
/* The simulated main memory against the formulas of dram.h. */
#include "simpmu_rig.h"

#include "model/machine/kernel_time.h"

/* With a slot of 1 ns: 16 GB/s, a line every 4 ns, and an idle latency of 80 ns. */
#define LINE_NS 4.0
#define IDLE_NS 80.0
#define READERS 7u

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
        dram_init(&dram, &timing, 1, READERS, allocate);
        return dram;
}

/* The latency after long reads every PERIOD_NS, a write for every READS_PER_WRITE. */
static double latency_at(struct dram dram, double period_ns, int reads_per_write)
{
        const int reads = 200000;
        uint64_t latency = 0;
        for (int i = 0; i < reads; i++) {
                uint64_t now = (uint64_t)(i * period_ns);
                dram_tick(&dram, now);
                latency = dram_read(&dram, now);
                if (reads_per_write > 0 && i % reads_per_write == 0)
                        (void)dram_write(&dram, now);
        }
        return (double)latency;
}

static double queued(double utilisation, double service_ns)
{
        return IDLE_NS + service_ns * utilisation / (2 * (1 - utilisation));
}

TEST(latency_grows_as_a_queue_s_does)
{
        for (double utilisation = 0.1; utilisation < 0.95; utilisation += 0.2) {
                double period = LINE_NS / utilisation;
                assert_near(latency_at(memory(1, 0, 1), period, 0),
                            queued(utilisation, LINE_NS), 0.02);
                /* Six channels are each a sixth as fast. */
                assert_near(latency_at(memory(6, 0, 1), period, 0),
                            queued(utilisation, 6 * LINE_NS), 0.02);
        }
}

/* Half as many writes, in batches of 8, turn-round of 32 ns, two channels: 2 ns more. */
TEST(writes_and_turn_rounds_take_time)
{
        const double period = 10;
        const double utilisation = (1.5 * LINE_NS + 0.5 * 32 / 8 / 2) / period;
        assert_near(latency_at(memory(2, 32, 8), period, 2),
                    queued(utilisation, 2 * LINE_NS), 0.02);
}

/* Without reads the channels stay with the writes, which get the whole bandwidth. */
TEST(writes_alone_need_no_turn_rounds)
{
        struct dram dram = memory(2, 320, 8);
        const uint64_t writes = 200000, warm = writes / 2;
        uint64_t done = 0, warm_at = 0;
        for (uint64_t i = 0; i < writes; i++) {
                uint64_t now = done > IDLE_NS ? done - (uint64_t)IDLE_NS : 0;
                dram_tick(&dram, now);
                done = later(done, dram_write(&dram, now));
                if (i == warm)
                        warm_at = done;
        }
        assert_near((double)(done - warm_at), (double)(writes - warm) * LINE_NS, 0.02);
}

/* The mean latency of reads every PERIOD_NS, with half as many writes, BURST at once. */
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
                        (void)dram_write(&dram, now);
        }
        return (double)latencies / (reads - settled);
}

/* Caches write modified lines back in bursts; memory keeps the lines and writes them
 * between its reads. Reads wait as long as beside the same writes one by one. */
TEST(bursts_of_writes_count_at_their_mean_rate)
{
        const uint64_t period_ns = 8;
        const double utilisation = 1.5 * LINE_NS / (double)period_ns;
        const int bursts[] = {1, 8, 100, 128, 256}; /* memory does 256 lines in 1024 ns */
        for (size_t i = 0; i < LENGTH(bursts); i++)
                assert_near(
                    mean_latency_beside_bursts(memory(4, 0, 1), period_ns, bursts[i]),
                    queued(utilisation, 4 * LINE_NS), 0.02);
}

/* ---- reads that each wait for another one: a constant number is under way ---- */
#define TURN_NS 5000u /* that a thread may be ahead of the others */

/* A thread with UNDER_WAY reads at once, and a write with each if it STORES. */
struct reader {
        uint32_t under_way;
        bool stores;
        uint64_t *next;   /* of each, when it begins */
        uint64_t longest; /* latency since the readers have settled */
        uint64_t lines;
};

static void reader_init(struct reader *reader, uint32_t under_way, bool stores)
{
        *reader = (struct reader){.under_way = under_way, .stores = stores};
        reader->next = allocate(under_way * sizeof(*reader->next));
}

/* Runs until the clock of READER is END; ignores reads that begin before SETTLED. */
static void run_reader(struct dram *dram, struct reader *reader, uint64_t end,
                       uint64_t settled)
{
        for (;;) {
                uint32_t first = 0;
                for (uint32_t i = 1; i < reader->under_way; i++)
                        first = reader->next[i] < reader->next[first] ? i : first;
                uint64_t now = reader->next[first];
                if (now >= end)
                        return;
                dram_tick(dram, now);
                uint64_t latency = dram_read(dram, now);
                if (reader->stores)
                        (void)dram_write(dram, now);
                reader->next[first] = now + latency;
                reader->lines += 1 + reader->stores;
                if (now >= settled)
                        reader->longest = later(reader->longest, latency);
        }
}

/* The readers run in turns. Returns how many lines pass until END. */
static uint64_t run_readers(struct dram *dram, struct reader *readers, size_t count,
                            uint64_t end, uint64_t settled)
{
        uint64_t lines = 0;
        for (uint64_t turn = TURN_NS; turn <= end; turn += TURN_NS) {
                dram_set_others(dram, count > 1 ? turn - TURN_NS : DRAM_NO_OTHERS);
                for (size_t i = 0; i < count; i++) {
                        for (size_t k = i + 1; k < count; k++)
                                dram_expect(dram, (uint32_t)k);
                        run_reader(dram, &readers[i], turn, settled);
                        dram_end_turn(dram, (uint32_t)i, TURN_NS);
                }
        }
        for (size_t i = 0; i < count; i++)
                lines += readers[i].lines;
        return lines;
}

/* By Little's law the reads and writes under way are the bandwidth times the latency. A
 * load beside threads that store waits at most for all lines under way. A thread that
 * stores and comes last in a turn waits little more than twice as long. */
TEST(no_load_waits_for_more_than_is_under_way)
{
        const uint32_t stores_under_way[] = {4, 12, 24};
        const uint64_t end = 2000000, settled = 100000;
        for (size_t k = 0; k < LENGTH(stores_under_way); k++) {
                struct dram dram = memory(2, 0, 1);
                struct reader readers[READERS];
                const uint32_t lines = (READERS - 1) * stores_under_way[k] * 2 + 1;
                const double little_ns = lines * LINE_NS + 2 * LINE_NS * 16;
                for (size_t i = 0; i < READERS - 1; i++)
                        reader_init(&readers[i], stores_under_way[k], true);
                reader_init(&readers[READERS - 1], 1, false);
                uint64_t passed = run_readers(&dram, readers, READERS, end, settled);
                assert_near((double)passed * LINE_NS, (double)end, 0.05);
                for (size_t i = 0; i < READERS; i++) {
                        double most = i < READERS - 1 ? 3 * little_ns : little_ns;
                        if ((double)readers[i].longest > most)
                                fail_msg("reader %zu of %u each: %lu ns of %g", i,
                                         stores_under_way[k], readers[i].longest, most);
                }
        }
}

/* ---- lines pass no faster than the bandwidth, in any order of requests ---- */

#define LINES_ASKED 200000u
#define WINDOW_NS   10000u

static int compare_times(const void *a, const void *b)
{
        const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return x < y ? -1 : x > y;
}

/* Times at which line number LINE is asked for, in an order that no thread would. */
typedef uint64_t time_fn(uint64_t line);

static uint64_t backwards(uint64_t line)
{
        return (LINES_ASKED - line) * 2;
}

static uint64_t all_at_once(uint64_t line)
{
        return 7;
}

static uint64_t here_and_there(uint64_t line)
{
        return line * 2654435761u % 300000;
}

/* Threads ask in turns for twice the bandwidth each. */
static uint64_t by_turns(uint64_t line)
{
        const uint64_t of_turn = 2 * TURN_NS / (uint64_t)LINE_NS;
        return line / (4 * of_turn) * TURN_NS + line % of_turn * (uint64_t)LINE_NS / 2;
}

static uint64_t far_ahead(uint64_t line)
{
        return line % 2 == 0 ? line * 2 : (1u << 22) + line / 8;
}

TEST(no_more_passes_in_any_ten_microseconds)
{
        time_fn *const orders[] = {backwards, all_at_once, here_and_there, by_turns,
                                   far_ahead};
        const uint64_t writes_of_16[] = {0, 1, 8, 16};

        for (size_t i = 0; i < LENGTH(orders); i++) {
                for (size_t k = 0; k < 4; k++) {
                        struct dram dram = memory(4, 0, 1);
                        uint64_t *passed = allocate(LINES_ASKED * sizeof(*passed));
                        const uint64_t most =
                            (uint64_t)(WINDOW_NS / LINE_NS) + dram.calendar.capacity;
                        dram_set_others(&dram, 0);
                        for (uint64_t line = 0; line < LINES_ASKED; line++) {
                                uint64_t slot = orders[i](line);
                                dram_tick(&dram, slot);
                                passed[line] = line % 16 < writes_of_16[k]
                                                   ? dram_write(&dram, slot)
                                                   : slot + dram_read(&dram, slot) -
                                                         (uint64_t)IDLE_NS;
                        }
                        qsort(passed, LINES_ASKED, sizeof(*passed), compare_times);
                        for (uint64_t line = most; line < LINES_ASKED; line++)
                                if (passed[line] - passed[line - most] < WINDOW_NS)
                                        fail_msg("order %zu, %zu: more than %lu lines in "
                                                 "%lu ns",
                                                 i, k, most,
                                                 passed[line] - passed[line - most]);
                }
        }
}

/* Stores alone read a line and write one: 2 lines' time and T / B for turn-round T. */
TEST(a_stream_of_stores_reaches_what_turn_rounds_leave)
{
        const uint64_t bytes = 32 * MIB;
        const double batch = 16, turnaround_ns = 64;
        const double line_ns = LINE_BYTES / 4.0; /* at 4 GB/s */
        struct simpmu_params params = default_params();
        params.dram_bandwidth_gbs = 4;
        params.dram_turnaround_ns = turnaround_ns;
        params.dram_write_batch = batch;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (uint64_t at = 0; at < bytes; at += LINE_BYTES)
                touch(rig, ACCESS_STORE, at, 8);
        double ns = (double)read_counters(rig, 0)[SIMPMU_CYCLES] * 1000 / CLOCK_MHZ;
        double expected_ns =
            (double)bytes / LINE_BYTES * (2 * line_ns + turnaround_ns / batch);
        assert_near(ns, expected_ns, 0.07);
}

/* ---- lines pass no faster than the bandwidth, in any mixture of traffic ---- */

#define CORES      4u
#define LINES_EACH (6 * MIB / LINE_BYTES)
#define FAST_MHZ   4500.0
#define APART      (4096 * MIB) /* of the threads' memory */
#define PAGE       4096ull

/* The accesses of a thread for its line number STEP, from ADDRESS on. */
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

static const struct access_site system_call;

static void have_pages_written(struct rig *rig, uint64_t address, uint64_t step)
{
        struct sim_thread *thread = rig->threads[rig->running];
        const uint64_t lines = PAGE / LINE_BYTES;
        uint64_t now = rig->hot.instructions + thread->stall;
        if (step % lines == 0)
                thread_pause(thread,
                             kernel_write(&rig->machine, &rig->hot, thread, &system_call,
                                          address + step * LINE_BYTES, PAGE, now));
}

static uint64_t clock_of(const struct rig *rig, uint32_t thread)
{
        uint64_t instructions =
            thread == rig->running ? rig->hot.instructions : rig->instructions[thread];
        return instructions + rig->threads[thread]->stall;
}

/* All threads run, none further ahead than the gate; returns GB/s of memory. */
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

TEST(nothing_passes_faster_than_the_bandwidth)
{
        step_fn *const steps[] = {read_and_write_streams, store_here_and_there,
                                  have_pages_written};
        const uint32_t prefetch[] = {0, UINT32_MAX};
        struct simpmu_params params = default_params();

        params.clock_mhz = FAST_MHZ;
        params.issue_width = 6;
        params.lfb_entries = 24;
        params.l2_queue_entries = 64;
        params.stream_lines = 64;
        params.l3_inclusion = INCLUSION_VICTIM;
        params.dram_channels = 2;
        for (size_t i = 0; i < LENGTH(steps); i++) {
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
