/* SPDX-License-Identifier: MIT */
/* The stall time that loads cause, and the two methods to sample it. */
#include "simpmu_rig.h"

/* Sums over all samples, for each load instruction. */
enum { IPS = 8 };
static uint64_t latency_of[IPS], retire_of[IPS], stall_of[IPS], samples_of[IPS];

static void add_sample(const struct sim_sample *sample)
{
        uint64_t ip = sample->site->ip;
        assert_true(ip < IPS);
        latency_of[ip] += sample->latency_slots;
        retire_of[ip] += sample->retire_slots;
        stall_of[ip] += sample->stall_slots;
        samples_of[ip]++;
}

/* Samples every load that reaches the model. STALLS: samples every slot, by time. */
static struct rig *rig_of_all(bool stalls)
{
        struct rig *rig = default_rig(1, 1, 1);
        rig->machine.on_sample = add_sample;
        rig->machine.samples_stalls = stalls;
        memset(latency_of, 0, sizeof(latency_of));
        memset(retire_of, 0, sizeof(retire_of));
        memset(stall_of, 0, sizeof(stall_of));
        memset(samples_of, 0, sizeof(samples_of));
        return rig;
}

static double cycles(const struct rig *rig, uint64_t slots)
{
        return (double)slots / (double)rig->machine.slots_per_cycle;
}

/* Makes the pages known to the TLB and pauses until all loads have retired. */
static void know_pages(struct rig *rig)
{
        for (uint64_t page = 0; page < 8; page++)
                touch(rig, ACCESS_LOAD, MIB + page * 4 * KIB, 1);
        thread_pause(rig->threads[0], 100 * DRAM_CYCLES * rig->machine.slots_per_cycle);
        memset(latency_of, 0, sizeof(latency_of));
        memset(retire_of, 0, sizeof(retire_of));
        memset(samples_of, 0, sizeof(samples_of));
}

/* Both have the latency of memory; the program waits only once. */
TEST(of_two_misses_side_by_side_the_first_is_waited_for)
{
        struct rig *rig = rig_of_all(false);
        know_pages(rig);
        touch_at(rig, 2, ACCESS_LOAD, MIB + 8 * LINE_BYTES, 1);
        touch_at(rig, 3, ACCESS_LOAD, MIB + 4 * KIB + 8 * LINE_BYTES, 1);
        assert_int_equal(samples_of[2] + samples_of[3], 2);
        assert_true(cycles(rig, latency_of[3]) >= DRAM_CYCLES);

        /* It would have retired a cycle after it issued. */
        assert_int_equal(retire_of[2], latency_of[2] - rig->machine.slots_per_cycle);
        assert_true(cycles(rig, retire_of[3]) < DRAM_CYCLES / 10.0);
}

TEST(each_miss_of_a_chain_is_waited_for)
{
        struct rig *rig = rig_of_all(false);
        know_pages(rig);
        for (uint64_t step = 0; step < 6; step++)
                chase_step(rig, MIB + step * 4 * KIB + 8 * LINE_BYTES);
        assert_int_equal(samples_of[0], 6);
        assert_near(cycles(rig, retire_of[0]), 6 * DRAM_CYCLES, 0.02);
}

/* A miss does not stall behind arithmetic that takes longer, such as a division. */
TEST(a_miss_beside_longer_arithmetic_is_not_waited_for)
{
        for (int longer = 0; longer < 2; longer++) {
                struct rig *rig = rig_of_all(false);
                struct sim_thread *thread = rig->threads[0];
                uint64_t slots = DRAM_CYCLES * rig->machine.slots_per_cycle;

                know_pages(rig);
                rig->hot.ready[FIRST_REGISTER] = rig->hot.instructions + thread->stall +
                                                 (longer ? 2 * slots : slots / 2);
                thread_look_at_code(&rig->hot, thread);
                touch_at(rig, 2, ACCESS_LOAD, MIB + 8 * LINE_BYTES, 1);
                assert_int_equal(samples_of[2], 1);
                if (longer)
                        assert_int_equal(retire_of[2], 0);
                else
                        assert_near(cycles(rig, retire_of[2]), DRAM_CYCLES / 2.0, 0.05);
        }
}

/* ---- stores ---- */

static void *begin_store(const struct sim_sample *sample)
{
        assert_true(sample->of_store);
        add_sample(sample);
        return &retire_of[sample->site->ip];
}

static void end_store(void *retire, uint64_t retire_slots)
{
        *(uint64_t *)retire += retire_slots;
}

static struct rig *rig_of_all_and_stores(void)
{
        struct rig *rig = rig_of_all(false);
        rig->machine.on_store = begin_store;
        rig->machine.on_store_done = end_store;
        rig->threads[0]->stores.on_done = end_store;
        return rig;
}

/* Stores miss everywhere and cause nearly all stall time; loads cause none. */
TEST(stores_that_fill_the_buffer_have_its_stall)
{
        const uint64_t stores = 20000;
        struct rig *rig = rig_of_all_and_stores();
        for (uint64_t i = 0; i < stores; i++) {
                touch_at(rig, 2, ACCESS_STORE, 64 * MIB + scattered(i, 64 * MIB), 2);
                touch_at(rig, 3, ACCESS_LOAD, MIB, 2);
        }
        thread_finish_stores(rig->threads[0], UINT64_MAX);
        const uint64_t *value = read_counters(rig, 0);
        assert_int_equal(samples_of[2], stores);
        assert_near(cycles(rig, retire_of[2]), (double)value[SIMPMU_SB_FULL], 0.01);
        assert_near(cycles(rig, retire_of[2]), (double)value[SIMPMU_CYCLES], 0.1);
        assert_true(cycles(rig, retire_of[3]) < (double)value[SIMPMU_CYCLES] / 100);
}

/* A fence waits for a store as a full buffer does. */
TEST(a_fence_waits_for_the_stores_before_it)
{
        struct rig *rig = rig_of_all_and_stores();
        struct sim_thread *thread = rig->threads[0];
        know_pages(rig);
        touch_at(rig, 2, ACCESS_STORE, MIB + 8 * LINE_BYTES, 1);
        thread_serialise(&rig->hot, thread, rig->hot.instructions, 0, 0);
        assert_int_equal(samples_of[2], 1);
        assert_near(cycles(rig, retire_of[2]), DRAM_CYCLES, 0.02);
}

/* Chases, scattered loads, hits of L2 and of L1 in an order without a pattern. */
static void run_mixture(struct rig *rig, uint64_t steps)
{
        uint64_t random = 1;
        for (uint64_t i = 0; i < steps; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                uint64_t kind = random >> 61, place = random >> 20 & 0xffff;
                if (kind == 0)
                        chase_step(rig, 64 * MIB + place * LINE_BYTES);
                else if (kind < 3)
                        touch_at(rig, 2, ACCESS_LOAD, MIB + place * 3 * LINE_BYTES,
                                 (uint16_t)(1 + (random >> 40 & 63)));
                else
                        touch_at(rig, (uint64_t)kind, ACCESS_LOAD,
                                 512 * MIB + place % (kind < 6 ? 2048 : 128) * LINE_BYTES,
                                 (uint16_t)(1 + (random >> 40 & 7)));
        }
}

/* Loads stall for the same time, whether loads or stall time is sampled. */
TEST(samples_by_loads_add_up_to_those_by_time)
{
        const uint64_t steps = 50000;
        struct rig *rig = rig_of_all(false);
        uint64_t by_loads[IPS], all = 0;
        run_mixture(rig, steps);
        memcpy(by_loads, retire_of, sizeof(by_loads));
        rig = rig_of_all(true);
        run_mixture(rig, steps);
        for (int ip = 0; ip < IPS; ip++)
                all += stall_of[ip];
        for (int ip = 0; ip < IPS; ip++) {
                double share =
                    fabs((double)stall_of[ip] - (double)by_loads[ip]) / (double)all;
                if (share > 0.01)
                        fail_msg("instruction %d: %g cycles of %g", ip,
                                 cycles(rig, by_loads[ip]), cycles(rig, stall_of[ip]));
        }
}
