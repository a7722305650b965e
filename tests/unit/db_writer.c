/* SPDX-License-Identifier: MIT */
/* The writer of raw rows: its output, surviving rows, and the cost of a sample. */
#include <sys/resource.h>

#define TEST_SETUP begin
#include "db_test.h"

static const struct data_source_row dram = {
    .op = "load", .level = "DRAM", .tlb = "hit", .snoop = "none"};

static struct {
        struct db *db;
        struct writer *writer;
        int64_t process;
        int64_t thread;
} r;

static void begin_recording(void)
{
        r.db = create_db("a.db");
        r.writer = open_writer(r.db);
        assert_ok(writer_process(r.writer, 100, 0, "/usr/bin/true", 0, &r.process, NULL));
        assert_ok(writer_thread(r.writer, r.process, 100, "main", 0, &r.thread, NULL));
}

static int begin(void **state)
{
        if (enter_directory(state))
                return -1;
        begin_recording();
        return 0;
}

static void end_recording(void)
{
        assert_ok(writer_close(r.writer, NULL));
        db_close(r.db);
}

static int write_samples(size_t count, struct diag *diag)
{
        int code = 0;
        for (size_t i = 0; i < count && !code; i++) {
                struct sample_row row = {.time_ns = (int64_t)i,
                                         .thread_id = r.thread,
                                         .cpu = -1,
                                         .ip = 0x401000,
                                         .latency_cycles = -1,
                                         .retire_latency_cycles = -1};
                code = writer_sample(r.writer, &row, NULL, diag);
        }
        return code;
}

TEST(rows_hold_what_was_written)
{
        int64_t module, again, other, mapping, source;
        const uint8_t build_id[] = {0xab, 0, 0xcd};
        writer_module(r.writer, "/lib/x.so", build_id, sizeof(build_id), &module, NULL);
        writer_module(r.writer, "/lib/x.so", build_id, sizeof(build_id), &again, NULL);
        writer_module(r.writer, "/lib/x.so", NULL, 0, &other, NULL);
        assert_true(module && module == again && module != other);
        struct mapping_row file = {.process_id = r.process,
                                   .kind = MAPPING_FILE,
                                   .start_addr = 0x7f0000000000,
                                   .length_bytes = 4096,
                                   .file_offset_bytes = 8192,
                                   .module_id = module,
                                   .protection = "r-x",
                                   .start_ns = 5};
        writer_mapping(r.writer, &file, &mapping, NULL);
        writer_data_source(r.writer, &dram, &source, NULL);
        struct sample_row sample = {.time_ns = 77,
                                    .thread_id = r.thread,
                                    .cpu = 3,
                                    .ip = 0x401000,
                                    .has_addr = true,
                                    .addr = 0xffffffff81000000,
                                    .latency_cycles = 250,
                                    .retire_latency_cycles = 33,
                                    .data_source_id = source};
        writer_sample(r.writer, &sample, NULL, NULL);
        assert_ok(write_samples(1, NULL));
        end_recording();

        expect("SELECT path || hex(build_id) FROM module WHERE build_id IS NOT NULL",
               "/lib/x.soAB00CD");
        expect(
            "SELECT kind || printf(' %x %d %d ', start_addr, length_bytes, "
            "file_offset_bytes) || protection || coalesce(end_ns, ' open') FROM mapping",
            "file 7f0000000000 4096 8192 r-x open");
        expect("SELECT printf('%d %d %x %x %d %d ', time_ns, cpu, ip, addr, "
               "latency_cycles, retire_latency_cycles) || level FROM sample JOIN "
               "data_source USING (data_source_id)",
               "77 3 401000 ffffffff81000000 250 33 DRAM");
        expect_count("sample WHERE cpu IS NULL AND addr IS NULL AND latency_cycles IS "
                     "NULL AND retire_latency_cycles IS NULL AND data_source_id IS NULL "
                     "AND stack_id IS NULL",
                     1);
}

TEST(an_end_is_filled_in_once)
{
        assert_ok(writer_thread_end(r.writer, r.thread, 10, NULL));
        assert_ok(writer_thread_end(r.writer, r.thread, 20, NULL));
        end_recording();
        expect_int("SELECT end_ns FROM thread", 10);
        expect("SELECT end_ns FROM process", "NULL");
}

TEST(counters_and_readings)
{
        struct diag diag;
        int64_t cycles, again;
        writer_counter(r.writer, "cycles", "cycles", NULL, &cycles, NULL);
        writer_counter(r.writer, "cycles", "cycles", NULL, &again, NULL);
        assert_int_equal(cycles, again);
        assert_ok(writer_reading(r.writer, 0, 10, r.thread, cycles, 7, NULL));
        assert_ok(writer_reading(r.writer, 10, 20, r.thread, cycles, 0, NULL));
        /* A row that breaks a rule is refused alone. */
        assert_int_equal(writer_reading(r.writer, 0, 10, r.thread, cycles, 8, &diag),
                         -EINVAL);
        assert_non_null(strstr(diag.text, "reading"));
        assert_ok(writer_reading(r.writer, 20, 30, r.thread, cycles, 9, NULL));
        end_recording();
        expect("SELECT group_concat(start_ns || ':' || value) FROM reading", "0:7,20:9");
}

/* ---- calling contexts ---- */

enum { MAX_DEPTH = 40, STACKS = 5000 };

struct known_stack {
        int64_t id;
        int64_t process;
        size_t depth;
        uint64_t ips[MAX_DEPTH];
};

static void make_stack(struct known_stack *stack, int64_t processes)
{
        stack->process = 1 + (int64_t)random_below((uint64_t)processes);
        stack->depth = 1 + random_below(MAX_DEPTH);
        for (size_t i = 0; i < stack->depth; i++)
                stack->ips[i] = 0xffff0000 + random_below(3);
}

/* Follows the rows from a leaf to its root. */
static void assert_stack(sqlite3_stmt *statement, const struct known_stack *stack)
{
        int64_t id = stack->id;
        for (size_t i = 0; i < stack->depth; i++) {
                sqlite3_bind_int64(statement, 1, id);
                assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
                assert_int_equal(sqlite3_column_int64(statement, 1), stack->process);
                assert_int_equal(sqlite3_column_int64(statement, 2), stack->ips[i]);
                id = sqlite3_column_int64(statement, 0);
                sqlite3_reset(statement);
        }
        assert_int_equal(id, 0);
}

/* Looks at all rows of the stacks, and frees them. */
static void assert_stacks(struct known_stack *stacks)
{
        sqlite3 *sqlite = plain_open("a.db");
        sqlite3_stmt *statement;
        /* Without this copy each lookup would evaluate the whole view. */
        sqlite3_exec(sqlite,
                     "CREATE TEMP TABLE node (stack_id INTEGER PRIMARY KEY, parent_id,"
                     " process_id, ip); INSERT INTO node SELECT * FROM stack",
                     NULL, NULL, NULL);
        sqlite3_prepare_v2(
            sqlite, "SELECT parent_id, process_id, ip FROM node WHERE stack_id = ?", -1,
            &statement, NULL);
        for (size_t i = 0; i < STACKS; i++)
                assert_stack(statement, &stacks[i]);
        sqlite3_finalize(statement);
        sqlite3_close(sqlite);
        free(stacks);
}

static int64_t write_stack_of(int64_t process, const uint64_t *ips, size_t depth,
                              enum context_use use)
{
        int64_t id;
        assert_ok(writer_stack(r.writer, process, ips, depth, use, &id, NULL));
        return id;
}

static int64_t write_known(const struct known_stack *stack, bool sampled)
{
        return write_stack_of(stack->process, stack->ips, stack->depth,
                              sampled ? CONTEXT_OF_SAMPLE : CONTEXT_OF_ALLOCATION);
}

/* Stack nodes of allocations are packed. Nodes that a sample uses too, earlier or later,
 * are also rows. In either form a node exists once. There are more addresses than a pack
 * may hold, some in the upper half of the address space. */
TEST(stacks_of_allocations_are_packed)
{
        int64_t second, samples = 0;
        writer_process(r.writer, 101, r.process, NULL, 0, &second, NULL);
        struct known_stack *stacks = calloc(STACKS, sizeof(*stacks));
        for (size_t i = 0; i < STACKS; i++) {
                struct known_stack *stack = &stacks[i];
                make_stack(stack, second);
                stack->ips[stack->depth - 1] = 0xffffffff81000000 + random_below(300);
                bool sampled = random_below(50) == 0;
                stack->id = write_known(stack, sampled);
                samples += sampled;
                const struct known_stack *earlier = &stacks[random_below(i + 1)];
                assert_int_equal(write_known(earlier, random_below(50) == 0),
                                 earlier->id);
        }
        end_recording();
        assert_stacks(stacks);
        expect_int("SELECT count(*) - count(DISTINCT stack_id) FROM stack", 0);
        assert_true(samples > 0 &&
                    plain_int("a.db", "SELECT count(*) FROM stack_node") > samples);
        assert_true(plain_int("a.db", "SELECT count(*) FROM packed_stack") >
                    plain_int("a.db", "SELECT count(*) FROM stack_node"));
        /* The callers of each row are rows too, up to the root. */
        expect_count(
            "stack_node WHERE parent_id NOT IN (SELECT stack_id FROM stack_node)", 0);
}

static int64_t write_stack(const uint64_t *ips, size_t depth, enum context_use use)
{
        return write_stack_of(r.process, ips, depth, use);
}

/* is_leaf marks packed leaves: their addresses are no return addresses. */
TEST(packed_leaves_are_told)
{
        const uint64_t ips[] = {0x10, 0x20, 0x30};
        write_stack(ips, 3, CONTEXT_OF_ALLOCATION);
        write_stack(ips + 1, 2, CONTEXT_OF_ALLOCATION);
        end_recording();
        expect_int("SELECT sum(ip * is_leaf) FROM packed_stack", 0x30);
        expect_int("SELECT sum(ip) FROM packed_stack WHERE NOT is_leaf", 0x50);
}

/* A source may name each stack once; then only the callers can be known already. */
TEST(new_stacks_share_their_callers)
{
        const uint64_t first[] = {0x10, 0x20, 0x30}, second[] = {0x11, 0x20, 0x30};
        const int64_t ids[] = {write_stack(first, 3, CONTEXT_OF_NEW_ALLOCATION),
                               write_stack(second, 3, CONTEXT_OF_NEW_ALLOCATION),
                               write_stack(first, 1, CONTEXT_OF_NEW_ALLOCATION)};
        write_stack(second, 3, CONTEXT_OF_SAMPLE);
        end_recording();
        expect_count("packed_stack", 5);
        expect_int("SELECT count(DISTINCT parent_id) FROM packed_stack WHERE is_leaf", 1);
        expect_int("SELECT sum(ip) FROM stack WHERE parent_id IS NULL", 0x40);
        assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
        expect_count("stack_node", 3);
}

/* The instruction after a call may be sampled, too: in another node than the call. */
TEST(leaf_and_caller_are_different_nodes)
{
        const uint64_t deep[] = {0x10, 0x20, 0x30};
        write_stack(deep, 3, CONTEXT_OF_SAMPLE);
        write_stack(deep + 1, 2, CONTEXT_OF_SAMPLE);
        end_recording();
        expect_count("stack", 4);
        expect_count("stack WHERE ip = 0x20", 2);
}

/* ---- surviving rows ---- */

/* Stacks and samples are written in groups; a commit may come before a group is full. */
TEST(committed_samples_have_their_stacks_and_accesses)
{
        int64_t id;
        for (int64_t number = 1; number <= 60000; number++) {
                uint64_t ip = (uint64_t)number;
                struct sample_row row = {.thread_id = r.thread,
                                         .ip = ip,
                                         .stack_frame = number % 3 == 0,
                                         .cfa_offset_bytes = number};
                row.stack_id = write_stack(&ip, 1, CONTEXT_OF_SAMPLE);
                assert_ok(writer_sample(r.writer, &row, &id, NULL));
                assert_int_equal(id, number);
        }
        assert_true(plain_int("a.db", "SELECT count(*) FROM sample") > 0);
        expect_count("sample WHERE stack_id NOT IN (SELECT stack_id FROM stack)", 0);
        expect_count("stack_access WHERE sample_id NOT IN (SELECT sample_id FROM sample)",
                     0);
        end_recording();
        expect_count("stack", 60000);
        expect_count("sample WHERE sample_id = ip", 60000);
        expect_count(
            "stack_access JOIN sample USING (sample_id) WHERE cfa_offset_bytes = ip",
            20000);
}

/* A commit writes waiting samples; it may come with any other row. */
TEST(a_key_is_of_its_row_across_commits)
{
        for (int64_t i = 1; i <= 70000; i++) {
                int64_t thread;
                assert_ok(write_samples(1 + i % 7 / 6, NULL));
                assert_ok(
                    writer_thread(r.writer, r.process, 100 + i, "", 0, &thread, NULL));
                assert_int_equal(thread, r.thread + i);
        }
        end_recording();
}

TEST(totals_are_all_written)
{
        for (uint64_t ip = 1; ip <= 200; ip++) {
                int64_t stack = write_stack(&ip, 1, CONTEXT_OF_SAMPLE);
                assert_ok(writer_allocation_total(r.writer, stack,
                                                  ip % 2 ? "malloc" : "calloc", ip,
                                                  10 * ip, 2 * ip, NULL));
        }
        end_recording();
        expect_count("allocation_total JOIN stack USING (stack_id) WHERE allocations = "
                     "ip AND total_bytes = 10 * ip AND peak_bytes = 2 * ip AND function "
                     "= iif(ip % 2, 'malloc', 'calloc')",
                     200);
}

/* More sites than one batch holds; most have the same totals as another site. */
TEST(totals_of_equal_sites_are_told_of_each)
{
        enum { SITES = 40000 };
        char calloc_of_another[] = "calloc";
        for (int64_t stack = 1; stack <= SITES; stack++)
                assert_ok(writer_allocation_total(
                    r.writer, stack,
                    stack % 3   ? "malloc"
                    : stack % 2 ? "calloc"
                                : calloc_of_another,
                    (uint64_t)stack % 7, (uint64_t)stack % 5, (uint64_t)stack % 2, NULL));
        end_recording();
        expect_int("SELECT count(DISTINCT stack_id) FROM allocation_total", SITES);
        expect_count("allocation_total WHERE allocations = stack_id % 7 AND total_bytes "
                     "= stack_id % 5 AND peak_bytes = stack_id % 2 AND function = "
                     "iif(stack_id % 3, 'malloc', 'calloc')",
                     SITES);
        assert_true(plain_int("a.db", "SELECT count(*) FROM allocation_pack") < 1000);
}

TEST(rows_are_committed_by_number)
{
        assert_ok(write_samples(100000, NULL));
        /* If they take more than a second, a commit by time comes first. */
        assert_true(plain_int("a.db", "SELECT count(*) FROM sample") > 0);
        end_recording();
}

/* A pack is as large as many rows. */
TEST(packs_are_committed_by_number)
{
        for (uint64_t i = 0; i < 120000; i++) {
                const uint64_t ips[] = {0x1000 + i % 100, 0x2000 + i % 100};
                write_stack(ips, 2, CONTEXT_OF_NEW_ALLOCATION);
        }
        assert_true(plain_int("a.db", "SELECT count(*) FROM stack_pack") > 0);
        end_recording();
}

TEST(rows_are_committed_by_time)
{
        const struct timespec pause = {.tv_nsec = 20000000};
        int rounds = 0;
        while (plain_int("a.db", "SELECT count(*) FROM sample") == 0 && rounds < 1000) {
                assert_ok(write_samples(1, NULL));
                nanosleep(&pause, NULL);
                rounds++;
        }
        assert_true(rounds >= 2 && rounds < 1000);
        end_recording();
}

TEST_WITH(committed_rows_survive_sigkill, enter_directory, leave_directory)
{
        int ready[2];
        assert_ok(pipe(ready));
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                begin_recording();
                int code = write_samples(250000, NULL);
                if (write(ready[1], &code, sizeof(code)) == sizeof(code))
                        pause();
                _exit(1);
        }
        int code;
        assert_int_equal(read(ready[0], &code, sizeof(code)), sizeof(code));
        assert_int_equal(code, 0);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);

        struct db *db;
        assert_ok(db_open("a.db", DB_READ_ONLY, &db, NULL));
        db_close(db);
        expect("PRAGMA integrity_check", "ok");
        long long samples = plain_int("a.db", "SELECT count(*) FROM sample");
        assert_in_range(samples, 150000, 250000); /* fewer than 100 000 are lost */
        expect_int("SELECT max(sample_id) FROM sample", samples);
        close(ready[0]);
        close(ready[1]);
}

TEST(full_disk_keeps_what_was_committed)
{
        struct diag diag;
        assert_ok(writer_flush(r.writer, NULL));
        assert_ok(db_exec(r.db, "PRAGMA max_page_count = 1500", NULL));
        assert_int_equal(write_samples(1000000, &diag), -ENOSPC);
        assert_non_null(strstr(diag.text, "a.db"));
        assert_non_null(strstr(diag.text, "no space left"));
        const char *kept = strstr(diag.text, "; ");
        while (kept && strstr(kept + 2, "; "))
                kept = strstr(kept + 2, "; ");
        assert_non_null(kept);
        assert_non_null(strstr(kept, " samples were written before"));

        /* No row may follow: the rows that it refers to may be lost. */
        assert_int_equal(write_samples(1, NULL), -ENOSPC);
        assert_int_equal(writer_flush(r.writer, NULL), -ENOSPC);
        assert_int_equal(writer_close(r.writer, NULL), -ENOSPC);
        db_close(r.db);
        long long samples = plain_int("a.db", "SELECT count(*) FROM sample");
        assert_true(samples > 0);
        assert_int_equal(atoll(kept + 2), samples);
        expect("PRAGMA integrity_check", "ok");
}

/* Even if each transaction has few rows. */
TEST_WITH(a_limited_file_has_room_for_the_last_facts, enter_directory, leave_directory)
{
        struct rlimit before;
        struct diag diag;
        assert_ok(getrlimit(RLIMIT_FSIZE, &before));
        signal(SIGXFSZ, SIG_IGN);
        for (size_t rows = 100; rows <= 100000; rows *= 1000) {
                struct rlimit limit = {900000, before.rlim_max};
                assert_ok(setrlimit(RLIMIT_FSIZE, &limit));
                begin_recording();
                int code = 0;
                while (!code) {
                        code = write_samples(rows, &diag);
                        if (!code)
                                code = writer_flush(r.writer, &diag);
                }
                assert_non_null(strstr(diag.text, "ulimit -f"));
                writer_close(r.writer, &diag);
                for (char kind[2] = "a"; *kind <= 'z'; ++*kind)
                        assert_ok(
                            db_ledger_set(r.db, "record", kind, 1, "samples", &diag));
                assert_ok(db_run_set_text(r.db, "state", "interrupted", &diag));
                assert_ok(setrlimit(RLIMIT_FSIZE, &before));
                db_close(r.db);
                expect("PRAGMA integrity_check", "ok");
                /* Half of the space is for samples. */
                assert_true(plain_int("a.db", "SELECT count(*) FROM sample") > 300);
                assert_ok(unlink("a.db"));
        }
}

TEST(a_second_recording_needs_a_second_file)
{
        assert_ok(writer_close(r.writer, NULL));
        struct writer *writer;
        assert_int_equal(writer_open(r.db, &writer, NULL), -EEXIST);
        db_close(r.db);
}

/* ---- the cost of a sample ---- */

static void write_realistic_samples(size_t count)
{
        int64_t source, time_ns = 0;
        writer_data_source(r.writer, &dram, &source, NULL);
        for (size_t i = 0; i < count; i++) {
                uint64_t ips[12];
                uint64_t site = random_below(3000);
                for (uint64_t k = 0; k < 12; k++)
                        ips[k] = 0x555555554000 + k * 10000 + site / (k * k + 1) * 4;
                time_ns += (int64_t)(random_below(200000));
                struct sample_row row = {.time_ns = time_ns,
                                         .thread_id = r.thread,
                                         .cpu = (int32_t)(i % 64),
                                         .ip = ips[0],
                                         .has_addr = true,
                                         .addr = 0x7ffff0000000 - random_below(1u << 30),
                                         .latency_cycles = (int64_t)(random_below(1000)),
                                         .data_source_id = source};
                row.stack_id = write_stack(ips, 12, CONTEXT_OF_SAMPLE);
                assert_ok(writer_sample(r.writer, &row, NULL, NULL));
        }
}

TEST(a_sample_takes_at_most_80_bytes)
{
        enum { SAMPLES = 200000 };
        write_realistic_samples(SAMPLES);
        assert_ok(writer_close(r.writer, NULL));
        assert_ok(db_exec(r.db,
                          "INSERT INTO attribution SELECT sample_id, stack_id, "
                          "1 + sample_id % 5000, addr & 0xfffffff, "
                          "1 + sample_id % 300, NULL, 1 + sample_id % 500 "
                          "FROM sample",
                          NULL));
        db_close(r.db);
        struct stat status;
        assert_ok(stat("a.db", &status));
        print_message("%.1f bytes a sample\n", (double)status.st_size / SAMPLES);
        assert_true(status.st_size <= 80 * SAMPLES);
}
