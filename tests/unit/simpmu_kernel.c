/* SPDX-License-Identifier: MIT */
/* The caches after writes by the kernel, and the costs of calls and first touches. */
#include "simpmu_rig.h"

#define PAGE  4096ull
#define START (64 * MIB)
#define L1    (32 * KIB) /* of default_params */
#define L2    (256 * KIB)
#define L3    (2 * MIB)

static enum page_kind kind_of_all = PAGE_IS_ZEROED;

static enum page_kind every_page(uint64_t page, uint64_t *first, uint64_t *end)
{
        *first = START / PAGE;
        *end = START / PAGE + 10 * BLOCK_PAGES;
        return kind_of_all;
}

static struct rig *rig_with_kernel(uint32_t threads, uint32_t ldlat_cycles)
{
        struct rig *rig;
        rig = rig_without_walks(threads, ldlat_cycles, 1);
        rig->machine.page_kind = every_page;
        kind_of_all = PAGE_IS_ZEROED;
        return rig;
}

static const struct access_site system_call;

static void write_by_kernel(struct rig *rig, uint64_t address, uint64_t bytes)
{
        struct sim_thread *thread = rig->threads[rig->running];
        uint64_t now = rig->hot.instructions + thread->stall;
        thread_serve(thread, kernel_write(&rig->machine, &rig->hot, thread, &system_call,
                                          address, bytes, now));
}

static struct sim_counters counted(const struct rig *rig)
{
        return rig->threads[0]->counters;
}

static void walk(struct rig *rig, enum access_kind kind, uint64_t address, uint64_t bytes)
{
        for (uint64_t at = 0; at < bytes; at += LINE_BYTES)
                touch(rig, kind, address + at, 4);
}

static void use_other_memory(struct rig *rig, uint64_t bytes)
{
        walk(rig, ACCESS_LOAD, 1024 * MIB, bytes);
}

/* Loads find a result in the smallest level that has room for it. */
TEST(a_result_is_in_the_caches)
{
        const struct {
                uint64_t bytes;
                enum simpmu_level level;
        } results[] = {{L1 / 2, SIMPMU_LEVEL_L1},
                       {L2 / 2, SIMPMU_LEVEL_L2},
                       {L3 / 2, SIMPMU_LEVEL_L3}};
        for (size_t i = 0; i < LENGTH(results); i++) {
                struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
                uint64_t lines = results[i].bytes / LINE_BYTES;
                touch(rig, ACCESS_STORE, START, 4);
                write_by_kernel(rig, START, results[i].bytes);
                walk(rig, ACCESS_LOAD, START, results[i].bytes);
                assert_int_equal(counted(rig).dram_read_lines, 0);
                assert_int_equal(counted(rig).loads_at[SIMPMU_LEVEL_DRAM], 0);
                if (results[i].level == SIMPMU_LEVEL_L1)
                        assert_int_equal(counted(rig).loads_at[SIMPMU_LEVEL_L2], 0);
                else
                        assert_true(counted(rig).loads_at[results[i].level] >= lines / 2);
        }
}

/* A write that covers its first and last line in part reads the rest of both. The
 * program's loads and stores do not change. The wait counts as time of the system
 * call. */
TEST(only_parts_of_lines_are_read)
{
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        touch(rig, ACCESS_STORE, START, 4);
        use_other_memory(rig, 4 * L3); /* the page's zeroes are in memory now */
        struct sim_counters before = counted(rig);
        uint64_t cycles = now_cycles(rig, 0);
        write_by_kernel(rig, START + LINE_BYTES / 2, 10 * LINE_BYTES);
        assert_int_equal(counted(rig).dram_read_lines - before.dram_read_lines, 2);
        for (int level = 0; level < SIMPMU_LEVEL_COUNT; level++)
                assert_int_equal(counted(rig).loads_at[level], before.loads_at[level]);
        const uint64_t *value = read_counters(rig, 0);
        assert_int_equal(value[SIMPMU_CYCLES] - cycles, value[SIMPMU_KERNEL_CALL]);
        assert_true(value[SIMPMU_KERNEL_CALL] > 0);
        assert_int_equal(counted(rig).demand_rfo_lines, before.demand_rfo_lines);
}

/* A store finds every line of fresh pages in L1: nothing is read and no store waits.
 * Lines that leave the caches are written once, as time of page faults. */
TEST(stores_to_fresh_pages)
{
        const uint64_t bytes = 64 * MIB, lines = bytes / LINE_BYTES;
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        const struct simpmu_params *params = &rig->machine.params;
        walk(rig, ACCESS_STORE, START, bytes);
        assert_int_equal(counted(rig).page_faults, bytes / PAGE);
        assert_int_equal(counted(rig).dram_read_lines, 0);
        assert_int_equal(counted(rig).demand_rfo_lines, 0);
        assert_near((double)counted(rig).dram_write_lines,
                    (double)(lines - (L3 + L2) / LINE_BYTES), 0.01);
        double fault_cycles =
            (double)counted(rig).fault_slots / (double)rig->machine.slots_per_cycle;
        assert_near((double)now_cycles(rig, 0) - fault_cycles, (double)lines, 0.01);
        double seconds = fault_cycles / (CLOCK_MHZ * 1e6);
        double least = DRAM_NS * 1e-9 / params->l2_queue_entries *
                       (double)counted(rig).dram_write_lines;
        assert_true(seconds >= 0.99 * least);
        assert_true((double)counted(rig).dram_write_lines * LINE_BYTES / seconds <=
                    DRAM_GBS * 1e9);
}

/* They share one page of zeroes: nothing is read, and nothing has to be written. */
TEST(loads_from_fresh_pages)
{
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        walk(rig, ACCESS_LOAD, START, 64 * MIB);
        assert_int_equal(counted(rig).dram_read_lines, 0);
        assert_int_equal(counted(rig).dram_write_lines, 0);
        assert_int_equal(counted(rig).loads_at[SIMPMU_LEVEL_DRAM], 0);
        assert_int_equal(rig->threads[0]->idle, 0);
}

/* The next touch zeroes unmapped pages again, although the TLBs still know them. */
TEST(pages_are_fresh_again)
{
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        for (int pages = 1; pages <= 64; pages *= 64) {
                walk(rig, ACCESS_STORE, START, (uint64_t)pages * PAGE);
                for (uint64_t at = 0; at < (uint64_t)pages * PAGE; at += LINE_BYTES)
                        miss_flush(&rig->machine, &rig->hot, rig->threads[0],
                                   (START + at) >> LINE_SHIFT, 0);
                assert_true(
                    pages_forget(&rig->machine.pages, START / PAGE, (uint64_t)pages));
                machine_forget_translations(&rig->machine, &rig->hot, START / PAGE,
                                            (uint64_t)pages);
                walk(rig, ACCESS_STORE, START, (uint64_t)pages * PAGE);
                assert_int_equal(counted(rig).dram_read_lines, 0);
                assert_true(
                    pages_forget(&rig->machine.pages, START / PAGE, (uint64_t)pages));
                machine_forget_translations(&rig->machine, &rig->hot, START / PAGE,
                                            (uint64_t)pages);
                assert_false(
                    pages_forget(&rig->machine.pages, START / PAGE, (uint64_t)pages));
        }
}

/* The touched part of a huge page is in L1, the farthest part is not in L2. */
TEST(a_huge_page_is_zeroed_at_once)
{
        struct rig *rig = rig_with_kernel(1, 1);
        const uint64_t asked = START + 100 * PAGE;
        pages_set_huge(&rig->machine.pages, START / PAGE, BLOCK_PAGES, true);
        touch(rig, ACCESS_STORE, asked, 4);
        walk(rig, ACCESS_LOAD, asked + LINE_BYTES, PAGE - LINE_BYTES);
        assert_int_equal(counted(rig).loads_at[SIMPMU_LEVEL_L1], PAGE / LINE_BYTES - 1);
        touch(rig, ACCESS_LOAD, START + (BLOCK_PAGES - 1) * PAGE, 4);
        assert_true(last_sample.level >= SIMPMU_LEVEL_L3);
        assert_int_equal(counted(rig).demand_rfo_lines, 0);
}

static struct rig *rig_with_huge_page(void)
{
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        pages_set_huge(&rig->machine.pages, START / PAGE, BLOCK_PAGES, true);
        touch(rig, ACCESS_STORE, START, 4);
        return rig;
}

static void release(struct rig *rig, uint64_t address, uint64_t bytes)
{
        assert_true(pages_release(&rig->machine.pages, address / PAGE, bytes / PAGE));
        machine_forget_translations(&rig->machine, &rig->hot, address / PAGE,
                                    bytes / PAGE);
}

static bool is_in_l1(const struct rig *rig, uint64_t address)
{
        return cache_look(&rig->threads[0]->core->l1d.cache, address >> LINE_SHIFT) !=
               CACHE_ABSENT;
}

/* A store to FRESH, in a block whose other pages hold data, zeroes that page alone. */
static void assert_one_page_is_zeroed(struct rig *rig, uint64_t fresh)
{
        uint64_t written;
        use_other_memory(rig, 4 * L3); /* nothing modified is in the caches now */
        written = counted(rig).dram_write_lines;
        touch(rig, ACCESS_STORE, fresh, 4);
        assert_int_equal(counted(rig).dram_write_lines, written);
        for (uint64_t at = 0; at < PAGE; at += LINE_BYTES) {
                assert_true(is_in_l1(rig, fresh + at));
                assert_false(is_in_l1(rig, fresh + PAGE + at));
        }
}

/* The rest of a huge page that lost pages keeps its data, in small pages. */
TEST(a_part_of_a_huge_page_comes_back_alone)
{
        for (uint64_t pages = 20; pages <= 40; pages += 20) {
                struct rig *rig = rig_with_huge_page();
                release(rig, START + 64 * PAGE, pages * PAGE);
                assert_false(pages_huge(&rig->machine.pages, START / PAGE));
                assert_one_page_is_zeroed(rig, START + 64 * PAGE);
                /* The rest goes in two parts: then nothing is left, and it is huge
                 * again. */
                release(rig, START, 100 * PAGE);
                assert_false(pages_huge(&rig->machine.pages, START / PAGE));
                release(rig, START + 100 * PAGE, (BLOCK_PAGES - 100) * PAGE);
                assert_true(pages_huge(&rig->machine.pages, START / PAGE));
        }
}

/* A block touched before huge pages were asked for stays small; a huge one stays huge. */
TEST(touched_pages_do_not_become_a_huge_one)
{
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        touch(rig, ACCESS_STORE, START, 4);
        pages_set_huge(&rig->machine.pages, START / PAGE, BLOCK_PAGES, true);
        assert_false(pages_huge(&rig->machine.pages, START / PAGE));
        assert_one_page_is_zeroed(rig, START + 2 * PAGE);
        rig = rig_with_huge_page();
        pages_set_huge(&rig->machine.pages, START / PAGE, BLOCK_PAGES, true);
        assert_true(pages_huge(&rig->machine.pages, START / PAGE));
}

/* Other cores lose their copies of the lines. */
TEST(other_cores_lose_what_is_written)
{
        struct rig *rig = rig_with_kernel(2, 1);
        touch(rig, ACCESS_STORE, START, 4);
        run_thread(rig, 1);
        touch(rig, ACCESS_LOAD, START, 4000);
        touch(rig, ACCESS_STORE, START, 4000);
        run_thread(rig, 0);
        write_by_kernel(rig, START, 8);
        touch(rig, ACCESS_LOAD, START, 4000);
        assert_int_equal(last_sample.level, SIMPMU_LEVEL_L1);
        run_thread(rig, 1);
        touch(rig, ACCESS_LOAD, START, 4000);
        assert_int_equal(last_sample.level, SIMPMU_LEVEL_HITM);
}

/* A prefetch is no touch: it brings nothing from a page without memory. */
TEST(prefetches_touch_nothing)
{
        struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
        const struct access_site site = {.position = -1, .size_bytes = 1};
        prefetch_instruction(&rig->machine, &rig->hot, rig->threads[0], &site,
                             PREFETCH_INTO_L1, START);
        assert_int_equal(counted(rig).dram_read_lines, 0);
        touch(rig, ACCESS_STORE, START, 4);
        use_other_memory(rig, 4 * L3);
        uint64_t before = counted(rig).dram_read_lines;
        prefetch_instruction(&rig->machine, &rig->hot, rig->threads[0], &site,
                             PREFETCH_INTO_L1, START);
        assert_int_equal(counted(rig).dram_read_lines, before + 1);
}

static struct rig *rig_with_prices(double fault_ns, double copy_gbs)
{
        struct simpmu_params params = default_params();
        struct rig *rig;
        params.kernel_fault_ns = fault_ns;
        params.kernel_copy_gbs = copy_gbs;
        rig = rig_new(&params, 1, NO_SAMPLES, 1);
        rig->machine.page_kind = every_page;
        kind_of_all = PAGE_IS_ZEROED;
        return rig;
}

static double fault_ns_of(const struct rig *rig)
{
        return (double)counted(rig).fault_slots / machine_slots_per_ns(&rig->machine);
}

/* A first store takes the kernel's time and zeroing, a load the kernel's time alone. */
TEST(a_first_touch_has_its_price)
{
        const double way_ns = 1000, zeroing_ns = PAGE / 4.0; /* at 4 GB/s */
        struct rig *rig = rig_with_prices(way_ns, 4);
        touch(rig, ACCESS_STORE, START + 100, 4);
        assert_near(fault_ns_of(rig), way_ns + zeroing_ns, 0.01);
        assert_int_equal(last_fault.address, START + 100);
        assert_int_equal(last_fault.page_bytes, PAGE);
        assert_near((double)last_fault.kernel_slots,
                    (way_ns + zeroing_ns) * machine_slots_per_ns(&rig->machine), 0.01);
        touch(rig, ACCESS_STORE, START + 200, 4);
        touch(rig, ACCESS_LOAD, START + PAGE, 4);
        touch(rig, ACCESS_LOAD, START + PAGE + 100, 4);
        assert_near(fault_ns_of(rig), 2 * way_ns + zeroing_ns, 0.01);
        assert_int_equal(counted(rig).page_faults, 2);
        assert_true(now_cycles(rig, 0) >= fault_ns_of(rig) * CLOCK_MHZ / 1000);
}

/* One fault for 2 MiB, at least at the price of its zeroes. */
TEST(a_huge_page_is_one_fault)
{
        struct rig *rig = rig_with_prices(1000, 4);
        pages_set_huge(&rig->machine.pages, START / PAGE, BLOCK_PAGES, true);
        for (uint64_t page = 0; page < BLOCK_PAGES; page++)
                touch(rig, ACCESS_STORE, START + page * PAGE, 4);
        assert_int_equal(counted(rig).page_faults, 1);
        assert_int_equal(last_fault.page_bytes, 2 * MIB);
        assert_true(fault_ns_of(rig) >= 0.99 * (1000 + 2 * MIB / 4.0));
}

/* Linux maps 64 KiB of a file around a page that is read, and a written page alone. */
TEST(pages_of_files_come_together)
{
        struct rig *rig = rig_with_prices(1000, 4);
        kind_of_all = PAGE_IS_OF_FILE;
        for (uint64_t page = 0; page < 64; page++)
                touch(rig, ACCESS_LOAD, START + page * PAGE, 4);
        assert_int_equal(counted(rig).page_faults, 64 / 16);
        for (uint64_t page = 64; page < 128; page++)
                touch(rig, ACCESS_STORE, START + page * PAGE, 4);
        assert_int_equal(counted(rig).page_faults, 64 / 16 + 64);
}

/* A page that is read first is of zeroes: its first write is a second page fault. */
TEST(a_page_that_is_read_first_faults_twice)
{
        for (uint64_t reads = 1; reads <= 2; reads++) {
                struct rig *rig = rig_with_kernel(1, NO_SAMPLES);
                walk(rig, ACCESS_LOAD, START, reads * LINE_BYTES);
                assert_int_equal(counted(rig).page_faults, 1);
                touch(rig, ACCESS_STORE, START, 4);
                assert_int_equal(counted(rig).page_faults, 2);
                walk(rig, ACCESS_STORE, START, PAGE);
                assert_int_equal(counted(rig).page_faults, 2);
        }
}
