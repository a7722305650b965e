/* SPDX-License-Identifier: MIT */
/* Accesses whose data is brought in time: what a perfect prefetch gives. */
#include "simpmu_rig.h"

#include "model/machine/in_time.h"

enum { STEPS = 2000 };

/* A chase through lines that no cache has: the cycles of a step. */
static double chase(const struct simpmu_params *params, bool in_time,
                    uint16_t other_instructions)
{
        struct rig *rig = rig_new(params, 1, NO_SAMPLES, 1);
        const struct access_site site = {
            .size_bytes = WORD_BYTES, .position = -1, .kind = ACCESS_LOAD};

        for (uint64_t i = 0; i < STEPS; i++) {
                const uint64_t address = (i * 7919 % STEPS) * 4096 * 3 + i % 64 * 64;
                rig->hot.instructions += other_instructions;
                if (in_time) {
                        rig->hot.instructions++;
                        in_time_bring(&rig->machine, &rig->hot, rig->threads[0], &site,
                                      address, false);
                        rig->hot.instructions--;
                }
                chase_step(rig, address);
        }
        thread_retire(&rig->hot, rig->threads[0],
                      rig->hot.instructions + (uint64_t)params->rob_entries);
        return (double)(rig->hot.instructions + rig->threads[0]->stall) / STEPS /
               rig->machine.slots_per_cycle;
}

/* Without it each step takes DRAM's latency. */
TEST(a_chase_waits_for_memory)
{
        struct simpmu_params params = default_params();

        assert_true(chase(&params, false, 0) > DRAM_CYCLES);
}

/* 400 instructions take 100 cycles, in which buffers bring six lines: no wait. */
TEST(data_in_time_is_waited_for_no_longer)
{
        struct simpmu_params params = default_params();

        double cycles = chase(&params, true, 400);
        assert_true(cycles >= 100 && cycles < 106);
}

/* Lines come as fast as twelve buffers let them, 200 / 12 cycles each. */
TEST(buffers_limit_it)
{
        struct simpmu_params params = default_params();

        double cycles = chase(&params, true, 0);
        assert_true(cycles > 16 && cycles < 18.5);
}

/* Or as DRAM does: 64 bytes at 1 GB/s take 64 ns, 128 cycles. */
TEST(bandwidth_limits_it)
{
        struct simpmu_params params = default_params();

        params.dram_bandwidth_gbs = 1;
        double cycles = chase(&params, true, 0);
        assert_true(cycles > 120 && cycles < 140);
}
