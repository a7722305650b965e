/* SPDX-License-Identifier: MIT */
/* Two nodes of the simulated machine: the node of each page, the core of each thread, the
 * cost of another node's memory, and the contents of a node's L3. */
#include "simpmu_rig.h"

#define CORES_OF_NODE 4u
#define PAGE          4096ull

static struct simpmu_params two_nodes(void)
{
        struct simpmu_params params = params_without_walks();
        params.cores = CORES_OF_NODE;
        params.nodes = 2;
        return params;
}

static uint32_t node_of_thread(const struct rig *rig, uint32_t thread)
{
        return rig->threads[thread]->core->node->number;
}

TEST(threads_fill_a_node_before_the_next)
{
        struct simpmu_params params = two_nodes();
        struct rig *rig = rig_new(&params, 10, NO_SAMPLES, 1);
        for (uint32_t i = 0; i < 8; i++)
                assert_int_equal(node_of_thread(rig, i), i / CORES_OF_NODE);
        assert_ptr_equal(rig->threads[8]->core, rig->threads[0]->core);
}

TEST(spread_threads_go_round_the_nodes)
{
        struct simpmu_params params = two_nodes();
        params.spread = 1;
        struct rig *rig = rig_new(&params, 8, NO_SAMPLES, 1);
        for (uint32_t i = 0; i < 8; i++)
                assert_int_equal(node_of_thread(rig, i), i % 2);
}

/* A page stays on the node of the core that touches it first. */
TEST(the_first_touch_places_a_page)
{
        struct simpmu_params params = two_nodes();
        const uint32_t far = CORES_OF_NODE;
        struct rig *rig = rig_new(&params, 8, 1, 1);
        on_core(rig, 0, ACCESS_STORE, MIB);
        assert_served(SIMPMU_LEVEL_REMOTE_DRAM, rig, far, ACCESS_LOAD, MIB + LINE_BYTES);
        assert_int_equal(latency_cycles(rig),
                         (uint64_t)((DRAM_NS + LINK_NS) * CLOCK_MHZ / 1000));
        assert_served(SIMPMU_LEVEL_DRAM, rig, far, ACCESS_LOAD, MIB + PAGE);
        assert_int_equal(latency_cycles(rig), DRAM_CYCLES);
        assert_served(SIMPMU_LEVEL_REMOTE_DRAM, rig, 0, ACCESS_LOAD,
                      MIB + PAGE + LINE_BYTES);
}

TEST(memory_that_was_unmapped_is_placed_anew)
{
        struct simpmu_params params = two_nodes();
        struct rig *rig = rig_new(&params, 8, 1, 1);
        on_core(rig, 0, ACCESS_STORE, MIB);
        on_core(rig, 0, ACCESS_STORE, MIB + PAGE);
        pages_forget(&rig->machine.pages, MIB / PAGE, 1);
        pages_move(&rig->machine.pages, MIB / PAGE + 1, 8 * MIB / PAGE, 1);
        assert_served(SIMPMU_LEVEL_DRAM, rig, CORES_OF_NODE, ACCESS_LOAD,
                      MIB + LINE_BYTES);
        assert_served(SIMPMU_LEVEL_REMOTE_DRAM, rig, CORES_OF_NODE, ACCESS_LOAD,
                      8 * MIB + LINE_BYTES);
}

TEST(lines_of_another_node_s_caches)
{
        struct simpmu_params params = two_nodes();
        const uint32_t far = CORES_OF_NODE;
        struct rig *rig = rig_new(&params, 8, 1, 1);
        on_core(rig, 0, ACCESS_STORE, MIB);
        assert_served(SIMPMU_LEVEL_REMOTE_HITM, rig, far, ACCESS_LOAD, MIB);
        assert_int_equal(latency_cycles(rig),
                         (uint64_t)(REMOTE_CACHE_NS * CLOCK_MHZ / 1000));
        /* An unmodified line of the L3 at home. */
        on_core(rig, 0, ACCESS_LOAD, MIB + LINE_BYTES);
        assert_served(SIMPMU_LEVEL_REMOTE_CACHE, rig, far, ACCESS_LOAD, MIB + LINE_BYTES);
        /* A write takes it from there. */
        on_core(rig, far, ACCESS_STORE, MIB + LINE_BYTES);
        assert_served(SIMPMU_LEVEL_REMOTE_HITM, rig, 0, ACCESS_LOAD, MIB + LINE_BYTES);
}

/* GB/s that COUNT threads from FIRST on read of memory that thread 0 has placed. */
static double read_from(uint32_t first, uint32_t count)
{
        const uint64_t bytes = 32 * MIB;
        struct simpmu_params params = two_nodes();
        struct rig *rig = rig_new(&params, 8, NO_SAMPLES, 1);
        uint64_t start = 0, lines = 0, at = 0;
        for (; at < 64 * MIB; at += PAGE)
                touch(rig, ACCESS_STORE, at, 1);
        start = now_cycles(rig, 0);
        for (uint32_t i = 0; i < 8; i++)
                rig->threads[i]->stall += i == 0 ? 0 : start * 4;
        uint64_t until = start;
        for (at = 0; at < bytes;) {
                until += GATE_CYCLES;
                for (uint32_t i = first; i < first + count; i++) {
                        run_thread(rig, i);
                        for (; now_cycles(rig, i) < until; at += LINE_BYTES, lines++)
                                touch(rig, ACCESS_LOAD, at % (64 * MIB), 8);
                }
        }
        return (double)(lines * LINE_BYTES) /
               ((double)(until - start) * 1000 / CLOCK_MHZ);
}

TEST(the_link_limits_what_other_nodes_read)
{
        assert_near(read_from(4, 3), LINK_GBS, 0.1);
        assert_near(read_from(0, 4), DRAM_GBS, 0.1);
}

/* ---- the contents of L3 ---- */

/* The number of LINES lines, read by one core, that are still in a cache. */
static uint64_t kept(enum inclusion inclusion, uint64_t lines)
{
        struct simpmu_params params = default_params();
        params.l2_bytes = MIB;
        params.l2_ways = 16;
        params.l3_bytes = 2 * MIB;
        params.l3_ways = 16;
        params.l3_inclusion = inclusion;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (int pass = 0; pass < 2; pass++) {
                for (uint64_t i = 0; i < lines; i++)
                        touch(rig, ACCESS_LOAD, i * LINE_BYTES, 40);
        }
        const uint64_t *value = read_counters(rig, 0);
        return 2 * lines - value[SIMPMU_DRAM_READ] / LINE_BYTES;
}

/* L2 holds 1 MiB, the L3 2 MiB: together 3 only when none is in both. */
TEST(a_victim_cache_adds_to_l2)
{
        const uint64_t lines = 5 * MIB / 2 / LINE_BYTES;
        assert_true(kept(INCLUSION_VICTIM, lines) > lines * 9 / 10);
        assert_true(kept(INCLUSION_ALL, lines) < lines / 2);
}

TEST(an_inclusive_l3_takes_lines_from_the_cores)
{
        const enum simpmu_level levels[] = {
            [INCLUSION_NONE] = SIMPMU_LEVEL_L1, [INCLUSION_ALL] = SIMPMU_LEVEL_DRAM};
        for (enum inclusion i = INCLUSION_NONE; i <= INCLUSION_ALL; i++) {
                struct simpmu_params params = default_params();
                params.l3_inclusion = i;
                struct rig *rig = rig_new(&params, 2, 1, 1);
                on_core(rig, 0, ACCESS_STORE, MIB);
                run_thread(rig, 1);
                for (uint64_t at = 0; at < 16 * MIB; at += LINE_BYTES)
                        touch(rig, ACCESS_LOAD, 64 * MIB + at, 8);
                on_core(rig, 0, ACCESS_LOAD, MIB);
                assert_int_equal(last_sample.level, levels[i]);
        }
}

/* With a victim cache, only the cores have a line that is in use. */
TEST(a_line_of_another_core_is_forwarded)
{
        struct simpmu_params params = params_without_walks();
        params.l3_inclusion = INCLUSION_VICTIM;
        struct rig *rig = rig_new(&params, 2, 1, 1);
        on_core(rig, 0, ACCESS_LOAD, MIB);
        assert_served(SIMPMU_LEVEL_FORWARD, rig, 1, ACCESS_LOAD, MIB);
        assert_int_equal(latency_cycles(rig), HITM_CYCLES);
}

/* ---- pages ---- */

TEST(pages_are_found_again)
{
        struct pages pages;
        const uint64_t count = 3000, step = 777777;
        pages_init(&pages, allocate);
        for (uint64_t i = 0; i < count; i++)
                pages_at(&pages, i * step)->user = (uint16_t)(i + 1);
        for (uint64_t i = 0; i < count; i++)
                assert_int_equal(pages_at(&pages, i * step)->user, i + 1);
        pages_forget(&pages, 10 * step + 1, 10 * step);
        for (uint64_t i = 0; i < count; i++)
                assert_int_equal(pages_at(&pages, i * step)->user,
                                 i > 10 && i <= 20 ? 0 : i + 1);
        pages_forget(&pages, 0, 1ull << 52);
        assert_int_equal(pages_at(&pages, step)->user, 0);
}
