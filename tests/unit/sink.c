/* SPDX-License-Identifier: MIT */
/* The sink: events of known processes, and the rows that a reader must find. */
#define TEST_SETUP begin
#include "sink_test.h"

enum { PAGE = 4096 };

static void process(int64_t time_ns, image_key image, image_key parent, uint32_t pid,
                    bool forked)
{
        struct event_process event = {image, parent, pid, "program", forked};
        assert_ok(sink_process(sink, time_ns, &event, &diag));
}

/* A recording with the process 100, image 1. */
static int begin(void **state)
{
        if (enter_directory(state))
                return -1;
        open_sink();
        process(0, 1, 0, 100, false);
        return 0;
}

static void map(int64_t time_ns, image_key image, uint64_t start, uint64_t length,
                const char *path)
{
        struct event_mapping event = {.image = image,
                                      .start_addr = start,
                                      .length_bytes = length,
                                      .kind = path ? MAPPING_FILE : MAPPING_ANON,
                                      .protection = "rw-",
                                      .path = path};
        assert_ok(sink_mapping(sink, time_ns, &event, &diag));
}

static void sample(int64_t time_ns, image_key image, uint64_t addr)
{
        static const struct data_source_row dram = {
            .op = "load", .level = "DRAM", .tlb = "hit", .snoop = "NA"};
        uint64_t frames[] = {0x1000, 0x2000};
        struct event_sample event = {.image = image,
                                     .tid = 7,
                                     .ip = 0x1000,
                                     .has_addr = true,
                                     .addr = addr,
                                     .latency_cycles = 200,
                                     .data_source = &dram,
                                     .frames = frames,
                                     .depth = 2};
        assert_ok(sink_sample(sink, time_ns, &event, &diag));
}

static void allocate(int64_t time_ns, image_key image, uint64_t addr, uint64_t size)
{
        uint64_t frames[] = {0x3000};
        assert_ok(sink_allocation(sink, time_ns, image, 7, "malloc", addr, size, frames,
                                  1, &diag));
}

static void map_anonymous(int64_t time_ns, uint64_t start_addr, const char *protection)
{
        struct event_mapping event = {.image = 1,
                                      .start_addr = start_addr,
                                      .length_bytes = 4 * PAGE,
                                      .kind = MAPPING_ANON};
        memcpy(event.protection, protection, sizeof(event.protection));
        assert_ok(sink_mapping(sink, time_ns, &event, &diag));
}

static void stack_in_use(int64_t time_ns, uint32_t tid, uint64_t at)
{
        assert_int_equal(sink_stack_in_use(sink, time_ns, 1, tid, at, &diag), 0);
}

/* A stack belongs to the thread that runs on it, then to the next thread on it. */
TEST(a_stack_is_known_by_its_guard)
{
        map_anonymous(10, 16 * PAGE, "---"); /* opened later, but for the guard */
        map_anonymous(10, 32 * PAGE, "---"); /* the guard alone */
        map_anonymous(10, 36 * PAGE, "rw-");
        map_anonymous(10, 64 * PAGE, "rw-"); /* memory without one */
        map_anonymous(10, 64 << 20, "---");  /* an arena of malloc() */
        stack_in_use(20, 7, (64 << 20) + PAGE);
        map_anonymous(10, 96 * PAGE, "---"); /* a stack in a block, as of a fiber */
        allocate(15, 1, 97 * PAGE, PAGE);
        stack_in_use(20, 7, 97 * PAGE + 100);
        for (uint32_t tid = 7; tid <= 8; tid++) {
                stack_in_use(20, tid, 19 * PAGE);
                stack_in_use(20, tid, 64 * PAGE);
                stack_in_use(20, tid, 80 * PAGE); /* no mapping is there */
        }
        stack_in_use(30, 8, 37 * PAGE);
        assert_ok(sink_thread_end(sink, 40, 1, 7, &diag));
        stack_in_use(50, 9, 19 * PAGE);
        close_sink();
        expect(
            "SELECT group_concat((start_addr / 4096) || ' ' || tid || ' ' || start_ns || "
            "'-' || ifnull(end_ns, ''), ', ') FROM (SELECT mapping.*, tid FROM mapping "
            "JOIN thread  USING (thread_id) WHERE kind = 'stack' ORDER BY mapping_id)",
            "16 7 20-50, 36 8 30-, 16 9 50-");
}

TEST(unmapping_a_part_leaves_the_pieces)
{
        map(10, 1, 16 * PAGE, 4 * PAGE, "/nowhere/lib.so");
        assert_ok(sink_unmapping(sink, 20, 1, 17 * PAGE, PAGE, &diag));
        close_sink();
        expect_count("mapping", 3);
        expect_int("SELECT end_ns FROM mapping WHERE length_bytes = 16384", 20);
        expect_int("SELECT start_ns FROM mapping WHERE start_addr = 18 * 4096 AND "
                   "length_bytes = 8192 AND file_offset_bytes = 8192 AND end_ns IS NULL",
                   20);
        expect_count("module", 1);
}

TEST(what_is_mapped_over_blocks_stays)
{
        map(5, 1, 16 * PAGE, 8 * PAGE, NULL);
        allocate(10, 1, 16 * PAGE, 8 * PAGE);
        sample(15, 1, 17 * PAGE);
        map(20, 1, 17 * PAGE, PAGE, "/nowhere/data");
        assert_ok(sink_replaced(sink, 21, 1, 17 * PAGE, PAGE, &diag));
        sample(30, 1, 17 * PAGE);
        sample(31, 1, 18 * PAGE);
        close_sink();
        expect_count(
            "mapping WHERE start_addr = 17 * 4096 AND module_id AND end_ns IS NULL", 1);
        expect(
            "SELECT group_concat((addr / 4096) || ' ' || start_ns || ' ' || "
            "coalesce(end_ns, ''), ', ') FROM (SELECT * FROM allocation ORDER BY addr)",
            "16 10 21, 18 21 ");
}

TEST(only_sampled_blocks_have_rows_and_all_count)
{
        allocate(10, 1, 0x10000, 64);
        assert_ok(sink_free(sink, 20, 1, 0x10000, &diag));
        allocate(30, 1, 0x10000, 128); /* the same address, another block */
        sample(40, 1, 0x10000 + 100);
        sample(41, 1, 0x10000);
        sample(42, 1, 0x10000 + 128); /* just behind it */
        assert_ok(sink_free(sink, 50, 1, 0x10000, &diag));
        close_sink();
        expect_count("allocation", 1);
        expect("SELECT size_bytes || ' ' || start_ns || ' ' || end_ns FROM allocation",
               "128 30 50");
        expect("SELECT allocations || ' ' || total_bytes || ' ' || peak_bytes FROM "
               "allocation_total",
               "2 192 128");
}

TEST(a_forked_child_has_what_its_parent_had)
{
        map(10, 1, 16 * PAGE, PAGE, NULL);
        map(10, 1, 32 * PAGE, PAGE, NULL);
        assert_ok(sink_unmapping(sink, 15, 1, 32 * PAGE, PAGE, &diag));
        allocate(20, 1, 0x10000, 64);
        process(30, 2, 1, 101, true);
        sample(40, 2, 0x10010);
        assert_ok(sink_free(sink, 50, 1, 0x10000, &diag)); /* the parent's */
        sample(60, 2, 0x10010);
        close_sink();
        expect_count("mapping WHERE process_id = 2", 1);
        expect_int("SELECT start_ns FROM mapping WHERE process_id = 2", 30);
        expect_count("allocation", 1);
        expect_int("SELECT process_id FROM allocation", 2);
        expect("SELECT end_ns FROM allocation", "NULL");
        expect_int("SELECT allocations FROM allocation_total", 1);
}

TEST(a_child_heard_of_after_its_parents_end_still_inherits)
{
        map(10, 1, 16 * PAGE, PAGE, NULL);
        assert_ok(sink_process_end(sink, 20, 1, &diag));
        process(20, 2, 1, 101, true);
        close_sink();
        expect_count("mapping WHERE process_id = 2", 1);
        expect_count("ledger", 0);
}

TEST(exec_begins_with_nothing)
{
        map(10, 1, 16 * PAGE, PAGE, NULL);
        allocate(15, 1, 0x10000, 64);
        assert_ok(sink_process_end(sink, 20, 1, &diag));
        process(20, 2, 1, 100, false);
        sample(30, 2, 0x10000);
        close_sink();
        expect_count("mapping WHERE process_id = 2", 0);
        expect_count("allocation", 0);
        expect_int("SELECT end_ns FROM process WHERE process_id = 1", 20);
        expect_int("SELECT parent_process_id FROM process WHERE process_id = 2", 1);
}

TEST(a_lagging_clock_does_not_tear_samples_from_their_mapping)
{
        map(1000, 1, 16 * PAGE, PAGE, NULL);
        sample(990, 1, 16 * PAGE); /* after it, by a thread whose clock lags */
        sample(1050, 1, 16 * PAGE);
        assert_ok(sink_unmapping(sink, 1040, 1, 16 * PAGE, PAGE, &diag));
        close_sink();
        expect_count(
            "sample JOIN mapping WHERE time_ns BETWEEN mapping.start_ns AND end_ns", 2);
}

TEST(a_reused_tid_is_another_thread)
{
        assert_ok(sink_thread(sink, 10, 1, 7, NULL, &diag));
        sample(15, 1, 0);
        assert_ok(sink_thread_end(sink, 20, 1, 7, &diag));
        assert_ok(sink_thread(sink, 30, 1, 7, NULL, &diag));
        sample(35, 1, 0);
        close_sink();
        expect_int("SELECT count(DISTINCT thread_id) FROM sample", 2);
        expect_int("SELECT end_ns FROM thread WHERE start_ns = 10", 20);
        expect_int("SELECT end_ns FROM thread WHERE start_ns = 30", 35);
}

TEST(readings_that_overlap_are_refused_and_counted)
{
        struct event_counter counter = {"cycles", "cycles", 5};
        const int64_t times[][2] = {{0, 10}, {10, 20}, {15, 25}, {30, 30}, {40, 35}};
        for (size_t i = 0; i < LENGTH(times); i++)
                assert_ok(sink_counters(sink, times[i][0], times[i][1], 1, 7, &counter, 1,
                                        &diag));
        close_sink();
        expect_count("reading", 2);
        expect_ledger("counter readings out of order", 3);
}

TEST(events_of_nobody_are_counted)
{
        sample(10, 5, 0);
        assert_ok(sink_process_end(sink, 20, 1, &diag));
        sample(30, 1, 0);
        close_sink();
        /* The kernel may sample a process for a while after it has reported its end. */
        expect_count("sample", 1);
        expect_ledger("events without a process", 1);
}

/* This program is a file with a build-id; readelf says which. */
TEST(a_module_has_its_files_build_id)
{
        char self[4096] = "";
        assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
        map(10, 1, 16 * PAGE, PAGE, self);
        map(10, 1, 32 * PAGE, PAGE, "/dev/zero");
        map(10, 1, 48 * PAGE, PAGE, "/etc/passwd");
        close_sink();
        char command[5000];
        snprintf(command, sizeof(command),
                 "readelf -n '%s' | sed -n 's/.*Build ID: //p' >id", self);
        assert_ok(system(command));
        char id[128] = "";
        FILE *file = fopen("id", "r");
        assert_non_null(fgets(id, sizeof(id), file));
        fclose(file);
        id[strcspn(id, "\n")] = '\0';
        expect("SELECT lower(hex(build_id)) FROM module WHERE path LIKE '%unit_sink'",
               id);
        expect_count("module WHERE build_id IS NULL", 2);
}

enum { LARGE_BYTES = 5 << 20 };

/* Python: zlib.crc32(b"\x7fELF" + bytes((5 << 20) - 4)) */
static const char large_file_checksum[] = "3717070518";

static void make_large_file(const char *path)
{
        write_text(path, "\x7f"
                         "ELF");
        assert_ok(truncate(path, LARGE_BYTES));
}

/* The mapped file is read, even if another file has taken its name. */
TEST(a_large_file_is_read_at_the_end)
{
        make_large_file("large");
        make_large_file("changed");
        map(10, 1, 16 * PAGE, PAGE, "large");
        map(11, 1, 32 * PAGE, PAGE, "large");
        map(12, 1, 48 * PAGE, PAGE, "changed");
        assert_ok(rename("large", "moved"));
        make_large_file("large");
        FILE *changed = fopen("changed", "r+");
        assert_non_null(changed);
        fputs("\x7f"
              "OTHER",
              changed);
        assert_ok(fclose(changed));
        close_sink();
        expect_count("module", 2);
        expect("SELECT checksum FROM module_file JOIN module USING (module_id) WHERE "
               "path = 'large'",
               large_file_checksum);
        expect_int("SELECT checksum FROM module_file JOIN module USING (module_id) WHERE "
                   "path = 'changed'",
                   -1);
        expect_int("SELECT sum(size_bytes) FROM module_file", 2 * LARGE_BYTES);
}

/* The second is sparse: that it is not read shows in the time too. */
TEST(no_more_than_1_gib_is_read_at_the_end)
{
        make_large_file("small");
        make_large_file("large");
        assert_ok(truncate("large", 1 << 30));
        map(10, 1, 16 * PAGE, PAGE, "small");
        map(11, 1, 32 * PAGE, PAGE, "large");
        close_sink();
        expect_count("module", 2);
        expect("SELECT path FROM module_file JOIN module USING (module_id)", "small");
        expect_ledger("large files without a build-id not read", 1);
}

/* A thread's stack in a block; the source knows the whole mapping around it. */
TEST(a_stack_in_a_block_hides_no_other_block)
{
        map(0, 1, 0x100000, 0x100000, NULL);
        assert_ok(sink_thread(sink, 10, 1, 101, NULL, &diag));
        struct event_mapping stack = {.image = 1,
                                      .start_addr = 0x100000,
                                      .length_bytes = 0x80000,
                                      .kind = MAPPING_STACK,
                                      .stack_tid = 101,
                                      .protection = "rw-"};
        assert_ok(sink_allocation(sink, 5, 1, 100, "aligned_alloc", 0x170000, 0x10000,
                                  NULL, 0, &diag));
        assert_ok(sink_mapping(sink, 10, &stack, &diag));
        assert_ok(sink_free(sink, 20, 1, 0x170000, &diag));
        assert_ok(sink_thread(sink, 30, 1, 102, NULL, &diag));
        stack.stack_tid = 102;
        assert_ok(sink_mapping(sink, 30, &stack, &diag));
        close_sink();
        /* The second thread's stack is in no block. */
        expect_count("mapping WHERE kind = 'stack' AND start_ns = 10", 0);
        expect_count("mapping WHERE kind = 'stack' AND start_ns = 30", 1);
}

TEST(the_unhandled_instruction_is_placed)
{
        struct event_mapping event = {.image = 1,
                                      .start_addr = 0x400000,
                                      .length_bytes = PAGE,
                                      .file_offset_bytes = 0x1000,
                                      .kind = MAPPING_FILE,
                                      .protection = "r-x",
                                      .path = "/nowhere/program"};
        assert_ok(sink_mapping(sink, 0, &event, &diag));
        const uint8_t bytes[] = {0x62, 0xf1};
        assert_ok(sink_unhandled(sink, 1, 0x400010, bytes, sizeof(bytes), &diag));
        const struct unhandled_instruction *found = sink_unhandled_instruction(sink);
        assert_int_equal(found->count, 1);
        assert_string_equal(found->module, "/nowhere/program");
        assert_int_equal(found->module_offset_bytes, 0x1010);
        assert_int_equal(found->bytes[0], 0x62);
        close_sink();
}
