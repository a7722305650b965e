/* SPDX-License-Identifier: MIT */
/* Accesses whose data arrives in time, as if a perfect prefetch had brought it. */
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

TEST(data_in_time_waits_for_buffers_and_bandwidth_alone)
{
        static const struct {
                bool in_time;
                uint16_t other_instructions;
                double dram_gbs, least, most; /* cycles */
        } cases[] = {
            {false, 0, DRAM_GBS, DRAM_CYCLES, 10 * DRAM_CYCLES},
            /* Buffers bring six lines in the 100 cycles of 400 instructions. */
            {true, 400, DRAM_GBS, 100, 106},
            /* Lines come as fast as twelve buffers let them, 200 / 12 cycles each, */
            {true, 0, DRAM_GBS, 16, 18.5},
            /* or as DRAM does: 64 bytes at 1 GB/s take 64 ns, 128 cycles. */
            {true, 0, 1, 120, 140},
        };
        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct simpmu_params params = default_params();
                params.dram_bandwidth_gbs = cases[i].dram_gbs;
                double cycles =
                    chase(&params, cases[i].in_time, cases[i].other_instructions);
                if (cycles < cases[i].least || cycles > cases[i].most)
                        fail_msg("case %zu: %g cycles", i, cycles);
        }
}
