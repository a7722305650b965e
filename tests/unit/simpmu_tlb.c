/* SPDX-License-Identifier: MIT */
/* Translation: pages of 4 KiB and 2 MiB, and misses of both levels of the TLB. */
#include "simpmu_rig.h"

#define PAGE        (4 * KIB)
#define HUGE        (2 * MIB)
#define L2_CYCLES   14u /* these three of default_params */
#define L3_CYCLES   60u
#define STLB_CYCLES 9u
#define BASE        (64 * HUGE)

/* Loads of COUNT places STEP apart, PASSES times, in a chain; counts of the last pass. */
struct outcome {
        uint64_t misses;
        uint64_t shortest_cycles;
};

static struct outcome load_places(struct rig *rig, uint64_t count, uint64_t step)
{
        const int passes = 4;
        struct outcome outcome = {0, UINT64_MAX};
        for (int pass = 0; pass < passes; pass++) {
                outcome = (struct outcome){0, UINT64_MAX};
                for (uint64_t i = 0; i < count; i++) {
                        /* In other sets of the caches: the lines stay in L3. */
                        chase_step(rig, BASE + i * step + i % 64 * LINE_BYTES);
                        uint64_t cycles =
                            last_sample.latency_slots / rig->machine.slots_per_cycle;
                        outcome.misses += last_sample.translation > TLB_STLB_HIT;
                        if (cycles < outcome.shortest_cycles)
                                outcome.shortest_cycles = cycles;
                }
        }
        return outcome;
}

static struct rig *rig_of_huge_pages(uint64_t count)
{
        struct rig *rig = default_rig(1, 1, 1);
        pages_set_huge(&rig->machine.pages, BASE / PAGE, count * HUGE / PAGE, true);
        return rig;
}

/* 64 MiB: 16384 small pages, or 32 huge ones, which the DTLB holds. */
TEST(huge_pages_cover_what_small_ones_do_not)
{
        const uint64_t bytes = 64 * MIB;
        struct rig *small = default_rig(1, 1, 1);
        struct outcome with_small = load_places(small, bytes / PAGE, PAGE);
        struct outcome with_huge =
            load_places(rig_of_huge_pages(bytes / HUGE), bytes / PAGE, PAGE);
        assert_int_equal(with_small.misses, bytes / PAGE);
        assert_true(with_small.shortest_cycles >= L2_CYCLES + WALK_CYCLES);
        assert_int_equal(with_huge.misses, 0);
}

TEST(huge_pages_beyond_their_dtlb_are_in_the_stlb)
{
        const uint64_t count = 1024;
        struct outcome outcome = load_places(rig_of_huge_pages(count), count, HUGE);
        assert_int_equal(outcome.misses, 0); /* as processors report it */
        assert_int_equal(outcome.shortest_cycles, L3_CYCLES + STLB_CYCLES);
        assert_int_equal(last_sample.translation, TLB_STLB_HIT);
}

TEST(a_walk_for_a_huge_page_has_a_cost_of_its_own)
{
        const uint64_t count = 4096; /* 8 GiB */
        struct outcome outcome = load_places(rig_of_huge_pages(count), count, HUGE);
        assert_int_equal(outcome.misses, count);
        assert_int_equal(outcome.shortest_cycles, L3_CYCLES + HUGE_WALK_CYCLES);
}

/* Independent loads of pages beyond the TLB go as fast as the walkers. */
TEST(walks_wait_for_a_walker)
{
        const uint64_t loads = 20000;
        for (uint32_t walkers = 1; walkers <= 4; walkers *= 2) {
                struct simpmu_params params = default_params();
                params.walkers = walkers;
                params.l3_latency_cycles = 20;
                params.dram_latency_ns = 10; /* else fill buffers would be the limit */
                params.dram_bandwidth_gbs = 1000;
                struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
                for (uint64_t i = 0; i < loads; i++)
                        touch(rig, ACCESS_LOAD, BASE + i * PAGE + i % 64 * LINE_BYTES, 4);
                assert_near((double)now_cycles(rig, 0) / (double)loads,
                            (double)WALK_CYCLES / walkers, 0.05);
        }
}

/* A page that passes without a look-up is in the DTLB, and recent. */
TEST(what_passes_is_recent_in_the_dtlb)
{
        const uint64_t pages = 160, lookups = 4000;
        struct simpmu_params params = default_params();
        struct tlb tlb;
        for (params.dtlb_entries = 64; params.dtlb_entries <= 96;
             params.dtlb_entries += 32) {
                tlb_init(&tlb, &params, allocate);
                assert_int_equal(tlb.dtlb.hashed, params.dtlb_entries == 96);
                for (uint64_t i = 0; i < lookups; i++) {
                        (void)tlb_lookup(&tlb, 1 + random_below(pages), false);
                        for (uint64_t page = 1; page <= pages; page++) {
                                struct cache_place place =
                                    cache_place_of(&tlb.dtlb, page);
                                if (tlb_passes(&tlb, page))
                                        assert_true(place.set->recent &
                                                    cache_find(&tlb.dtlb, &place));
                        }
                }
        }
}

static void arrays_pass(struct tlb *tlb, uint64_t length, bool huge)
{
        const uint64_t pages = 64, arrays = 3, turns = 3;
        for (uint64_t i = 0; i < pages; i++) {
                uint64_t page = BASE / PAGE + i;
                for (uint64_t array = 0; array < arrays * turns; array++)
                        (void)tlb_lookup(tlb, page + array % arrays * length, huge);
                for (uint64_t array = 0; array < arrays; array++)
                        assert_true(tlb_passes(tlb, page + array * length));
        }
}

/* Three arrays a power of two apart, used side by side: all pages pass the filter. */
TEST(pages_of_arrays_side_by_side_pass)
{
        const uint64_t smallest = 64, largest = MIB; /* in pages: 256 KiB to 4 GiB */
        struct simpmu_params params = default_params();
        struct tlb tlb;
        tlb_init(&tlb, &params, allocate);
        for (uint64_t length = smallest; length <= largest; length *= 2) {
                for (uint64_t multiple = 1; multiple <= 6; multiple++) {
                        arrays_pass(&tlb, multiple * length, false);
                        arrays_pass(&tlb, multiple * length, true);
                }
        }
}

/* A huge page that loses a few of its small ones is looked up again, another one not. */
TEST(a_huge_page_is_forgotten_with_a_part_of_it)
{
        const uint64_t page = BASE / PAGE, part = page + 64, other = page + HUGE / PAGE;
        struct simpmu_params params = default_params();
        struct tlb tlb;
        tlb_init(&tlb, &params, allocate);
        (void)tlb_lookup(&tlb, page, true);
        (void)tlb_lookup(&tlb, other, true);
        tlb_forget(&tlb, part, 2);
        assert_false(tlb_passes(&tlb, page));
        assert_int_equal(tlb_lookup(&tlb, other, true), TLB_HIT);
        assert_int_equal(tlb_lookup(&tlb, page, true), TLB_HUGE_WALK);
        tlb_forget(&tlb, other - 1, 2); /* a part of each */
        assert_int_equal(tlb_lookup(&tlb, page, true), TLB_HUGE_WALK);
        assert_int_equal(tlb_lookup(&tlb, other, true), TLB_HUGE_WALK);
}

/* Walks whose addresses come late do not delay other walks. */
TEST(walks_of_the_future_hold_up_nobody)
{
        struct simpmu_params params = default_params();
        struct tlb tlb;
        params.walkers = 1;
        tlb_init(&tlb, &params, allocate);
        assert_int_equal(tlb_walk(&tlb, 1000, 30), 30);
        assert_int_equal(tlb_walk(&tlb, 2000, 30), 30);
        assert_int_equal(tlb_walk(&tlb, 3000, 30), 30);
        assert_int_equal(tlb_walk(&tlb, 100, 30), 30);
        assert_int_equal(tlb_walk(&tlb, 1500, 30), 30);
        assert_int_equal(tlb_walk(&tlb, 990, 30), 70);  /* after the first */
        assert_int_equal(tlb_walk(&tlb, 4000, 30), 30); /* all are done */
        tlb_settle(&tlb);
        assert_int_equal(tlb_walk(&tlb, 5, 30), 30);
}

/* The walker is busy with the first walks of chains when a later load needs it. */
TEST(a_load_beside_chains_of_walks_waits_for_no_later_one)
{
        const uint64_t rounds = 50, chains = 3, steps = 8;
        struct simpmu_params params = default_params();
        uint64_t fresh = BASE;
        params.walkers = 1;
        struct rig *rig = rig_new(&params, 1, 1, 1);
        for (uint64_t round = 0; round < rounds; round++) {
                for (uint64_t i = 0; i < chains * steps; i++) {
                        if (i % steps == 0)
                                rig->hot.ready[POINTER] = 0;
                        chase_step(rig, fresh += PAGE + LINE_BYTES);
                }
                touch(rig, ACCESS_LOAD, fresh += PAGE + LINE_BYTES, 1);
                assert_true(last_sample.translation > TLB_STLB_HIT);
                assert_in_range(last_sample.latency_slots / rig->machine.slots_per_cycle,
                                DRAM_CYCLES + WALK_CYCLES,
                                DRAM_CYCLES + (chains + 1) * WALK_CYCLES);
                rig->hot.instructions += 4 * 2 * steps * DRAM_CYCLES;
        }
}

/* Accesses to 1024 lines in L2, each of another page, one after the other and
 * independent. Accesses to lines in L1 would pass the filter. */
static double cycles_of_pages(double interval_cycles, enum access_kind kind)
{
        const uint64_t pages = 1024, rounds = 16;
        struct simpmu_params params = default_params();
        uint64_t before = 0;
        params.stlb_interval_cycles = interval_cycles;
        struct rig *rig = rig_new(&params, 1, NO_SAMPLES, 1);
        for (uint64_t round = 0; round <= rounds; round++) {
                for (uint64_t i = 0; i < pages; i++)
                        touch(rig, kind, BASE + i * (PAGE + LINE_BYTES), 1);
                if (round == 0)
                        before = now_cycles(rig, 0);
        }
        return (double)(now_cycles(rig, 0) - before) / (double)(rounds * pages);
}

TEST(the_second_level_translates_loads_in_its_interval)
{
        assert_true(cycles_of_pages(0, ACCESS_LOAD) < 3);
        assert_near(cycles_of_pages(4.5, ACCESS_LOAD), 4.5, 0.05);
        assert_true(cycles_of_pages(4.5, ACCESS_STORE) < 3);
}

/* Only blocks of 2 MiB that lie within the range as a whole. */
TEST(only_whole_blocks_become_huge)
{
        struct pages pages;
        const uint64_t block = HUGE / PAGE;
        pages_init(&pages, allocate);
        pages_set_huge(&pages, 10 * block + 1, 3 * block, true);
        assert_false(pages_huge(&pages, 10 * block + 1));
        assert_true(pages_huge(&pages, 11 * block));
        assert_true(pages_huge(&pages, 13 * block - 1));
        pages_set_huge(&pages, 11 * block, block / 2, true); /* as it is */
        assert_true(pages_huge(&pages, 11 * block));
        assert_false(pages_huge(&pages, 13 * block));
}

TEST(huge_pages_end_where_they_are_unmapped)
{
        struct pages pages;
        const uint64_t block = HUGE / PAGE;
        pages_init(&pages, allocate);
        /* So many that they cannot each have a place. */
        pages_set_huge(&pages, 0, block << 30, true);
        assert_true(pages_huge(&pages, 100 * block));
        pages_forget(&pages, 100 * block + 7, 2 * block);
        for (uint64_t i = 98; i < 106; i++)
                assert_int_equal(pages_huge(&pages, i * block), i < 100 || i > 102);
        pages_set_huge(&pages, 104 * block, block, false);
        assert_false(pages_huge(&pages, 104 * block));
        /* Released, they come back as huge ones. */
        pages_at(&pages, 105 * block)->node = 1;
        pages_release(&pages, 105 * block, block);
        assert_true(pages_huge(&pages, 105 * block));
        assert_int_equal(pages_at(&pages, 105 * block)->node, 0);
        for (uint64_t i = 0; i < 200; i++)
                pages_forget(&pages, 2 * i * block, block);
        for (uint64_t i = 0; i < 400; i++)
                assert_int_equal(pages_huge(&pages, i * block), i % 2 == 1 && i != 101);
}
