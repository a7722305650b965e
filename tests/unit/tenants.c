/* SPDX-License-Identifier: MIT */
/* Capacity and traffic of a shared L3, from programs that run on the modelled machine. */
#include "tenants.h"
#include "simpmu_rig.h"

#define WAYS      16u
#define L3_KIB    1024u
#define L3_CYCLES 60u

/* The time of a line in ns, once a program has passed often through BYTES that it first
 * read from memory. CHASE: its loads wait for each other. */
static double steady_ns(double tenants_gbs, uint64_t bytes, bool chase)
{
        const uint64_t warm = 12, passes = 4, lines = bytes / LINE_BYTES;
        uint64_t before = 0;
        struct simpmu_params params = params_without_walks();
        params.l1d_bytes = params.l2_bytes = 4 * KIB;
        params.l3_bytes = L3_KIB * KIB;
        params.l3_ways = WAYS;
        params.l3_latency_cycles = L3_CYCLES;
        params.l3_inclusion = INCLUSION_VICTIM;
        params.l3_tenants_gbs = tenants_gbs;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (uint64_t pass = 0; pass < warm + passes; pass++) {
                if (pass == warm)
                        before = now_cycles(rig, 0);
                for (uint64_t i = 0; i < lines; i++)
                        if (chase)
                                chase_step(rig, i * LINE_BYTES);
                        else
                                touch(rig, ACCESS_LOAD, i * LINE_BYTES, 4);
        }
        double cycles = (double)(now_cycles(rig, 0) - before);
        free_blocks(NULL);
        return cycles / (double)(passes * lines) * 1000 / CLOCK_MHZ;
}

static struct pass pass_of(double tenants_gbs, bool chase)
{
        uint64_t low = 8 * KIB, high = 2 * L3_KIB * KIB;
        struct pass pass = {.hit_ns = steady_ns(tenants_gbs, low, chase),
                            .miss_ns = steady_ns(tenants_gbs, high, chase)};
        while (high - low > 16 * KIB) {
                uint64_t bytes = (low + high) / 2 / LINE_BYTES * LINE_BYTES;
                bool stays = steady_ns(tenants_gbs, bytes, chase) <
                             (pass.hit_ns + pass.miss_ns) / 2;
                *(stays ? &low : &high) = bytes;
        }
        pass.cliff_bytes = (double)low;
        return pass;
}

TEST(two_cliffs_tell_capacity_and_traffic)
{
        const double traffic[] = {0.5, 4}; /* GB/s */
        for (size_t i = 0; i < LENGTH(traffic); i++) {
                struct pass slow = pass_of(traffic[i], true);
                struct pass fast = pass_of(traffic[i], false);
                struct tenants found = tenants_solve(WAYS, &slow, &fast);
                fprintf(
                    stderr,
                    "%g: slow %.1f %.1f %.0f fast %.2f %.2f %.0f: %.0f KiB %.2f GB/s\n",
                    traffic[i], slow.hit_ns, slow.miss_ns, slow.cliff_bytes / 1024,
                    fast.hit_ns, fast.miss_ns, fast.cliff_bytes / 1024,
                    found.capacity_bytes / 1024, found.gbs);
                assert_near(found.capacity_bytes, L3_KIB * KIB, 0.05);
                assert_near(found.gbs, traffic[i], 0.15);
        }
}

/* A cache of its own keeps as much of every program. */
TEST(one_cliff_tells_that_there_are_no_others)
{
        struct pass slow = pass_of(0, true), fast = pass_of(0, false);
        struct tenants found = tenants_solve(WAYS, &slow, &fast);
        assert_true(found.gbs == 0);
        assert_near(found.capacity_bytes, L3_KIB * KIB, 0.05);
}

/* Half of the lines are others': C / (1 + rate * t), which chance makes a little less. */
TEST(a_pass_as_slow_as_the_others_keeps_half)
{
        const unsigned many_ways = 1024; /* hardly any chance */
        struct pass pass = {.hit_ns = 20, .miss_ns = 20.001};
        assert_near(tenants_cliff_part(1 / pass.hit_ns, many_ways, &pass), 0.5, 0.05);
}
