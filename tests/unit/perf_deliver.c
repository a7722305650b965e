/* SPDX-License-Identifier: MIT */
/* Perf records of processes with a known history, and the rows made from them. */
#define TEST_SETUP begin
#include "sink_test.h"

#include <linux/perf_event.h>

#include "perf_deliver.h"

static struct perf_deliver *deliver;
static struct perf_stream stream;

static int begin(void **state)
{
        if (enter_directory(state))
                return -1;
        stream = (struct perf_stream){
            .layout = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                      PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC,
                       .sample_id_all = true}};
        open_sink();
        deliver = perf_deliver_new(sink);
        assert_non_null(deliver);
        return 0;
}

static void finish(void)
{
        assert_ok(perf_tasks_finish(perf_deliver_tasks(deliver), &diag));
        perf_deliver_free(deliver);
        close_sink();
}

static void hand_over(int64_t time_ns, const struct record *record)
{
        assert_ok(perf_deliver_record(deliver, time_ns, &stream, record, &diag));
}

static void comm(int64_t time_ns, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
        struct record record = {.kind = RECORD_COMM, .comm = {pid, tid, exec, name}};
        hand_over(time_ns, &record);
}

static void fork_task(int64_t time_ns, uint32_t parent, uint32_t pid, uint32_t tid)
{
        struct record record = {
            .kind = RECORD_FORK,
            .task = {.pid = pid, .parent_pid = parent, .tid = tid, .parent_tid = parent}};
        hand_over(time_ns, &record);
}

static void exit_task(int64_t time_ns, uint32_t pid, uint32_t tid)
{
        struct record record = {.kind = RECORD_EXIT, .task = {.pid = pid, .tid = tid}};
        hand_over(time_ns, &record);
}

static void map(int64_t time_ns, uint32_t pid, uint64_t addr, uint64_t length,
                const char *path)
{
        struct record record = {.kind = RECORD_MMAP,
                                .mmap = {.pid = pid,
                                         .tid = pid,
                                         .addr = addr,
                                         .length_bytes = length,
                                         .has_protection = true,
                                         .protection = PROT_READ | PROT_EXEC,
                                         .path = path}};
        hand_over(time_ns, &record);
}

/* PERF_MEM_OP_LOAD, level RAM by number, TLB hit in L1. */
#define LOAD_DRAM                                                                        \
        ((UINT64_C(2) << PERF_MEM_OP_SHIFT) | (UINT64_C(0xd) << PERF_MEM_LVLNUM_SHIFT) | \
         (UINT64_C(0xa) << PERF_MEM_TLB_SHIFT))
/* As kernels from 6.6 on write it where nothing is known. */
#define NOTHING UINT64_C(0x1e05080021)

static struct record sample_of(uint32_t pid, uint32_t tid, uint64_t ip)
{
        return (struct record){
            .kind = RECORD_SAMPLE,
            .id = {.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .pid = pid, .tid = tid},
            .sample = {.ip = ip,
                       .addr = 0x5000,
                       .weight = UINT64_C(77) | UINT64_C(99) << 32,
                       .data_src = LOAD_DRAM}};
}

static void sample(int64_t time_ns, uint32_t pid, uint32_t tid)
{
        struct record record = sample_of(pid, tid, 0x401000);
        hand_over(time_ns, &record);
}

TEST(a_shell_runs_a_program_with_threads)
{
        comm(10, 100, 100, "sh", true);
        map(11, 100, 0x400000, 0x2000, "/bin/sh");
        map(11, 100, 0x7f0000, 0x1000, "/lib/ld.so");
        fork_task(20, 100, 101, 101);
        sample(25, 101, 101); /* still the shell's code */
        comm(30, 101, 101, "program", true);
        map(30, 101, 0x7ff000, 0x1000, "[stack]");
        map(31, 101, 0x400000, 0x3000, "/opt/program");
        fork_task(40, 101, 101, 102);
        comm(41, 101, 102, "worker", false);
        sample(50, 101, 102);
        exit_task(60, 101, 101); /* the first thread may end first */
        sample(65, 101, 102);
        exit_task(70, 101, 102);
        exit_task(80, 100, 100);
        finish();

        expect_count("process", 3);
        expect_count("process p JOIN process q ON p.parent_process_id = q.process_id "
                     "WHERE p.pid = 101 AND p.executable IS NULL AND q.executable = "
                     "'/bin/sh' AND p.start_ns = 20 AND p.end_ns = 30",
                     1);
        expect_count("process p JOIN process q ON p.parent_process_id = q.process_id "
                     "WHERE p.executable = '/opt/program' AND q.pid = 101 AND p.start_ns "
                     "= 30 AND p.end_ns = 70",
                     1);
        expect_int("SELECT end_ns FROM process WHERE pid = 100", 80);
        /* The fork inherited the shell's mappings, the exec began with none. */
        expect_count("mapping JOIN module USING (module_id) JOIN process USING "
                     "(process_id) WHERE path = '/bin/sh' AND pid = 101",
                     1);
        expect_count(
            "mapping JOIN process USING (process_id) WHERE executable = '/opt/program'",
            2);
        expect("SELECT group_concat(name || ' ' || tid, ', ') FROM (SELECT * FROM thread "
               "ORDER BY thread_id)",
               "sh 100, sh 101, program 101, worker 102");
        expect_count("sample JOIN thread USING (thread_id) WHERE name = 'worker' AND "
                     "latency_cycles = 77",
                     2);
        expect_count("ledger", 0);
}

/* As no kernel writes it: a thread that forked itself. */
TEST(a_thread_that_is_its_own_parent_keeps_its_name)
{
        comm(10, 100, 100, "program", true);
        map(11, 100, 0x400000, 0x2000, "/bin/program");
        fork_task(20, 100, 100, 100);
        finish();
        expect("SELECT group_concat(name) FROM thread", "program,program");
}

TEST(what_existed_is_told_by_perf)
{
        struct record fork = {.kind = RECORD_FORK,
                              .misc = PERF_RECORD_MISC_FORK_EXEC,
                              .task = {.pid = 200, .parent_pid = 1, .tid = 200}};
        hand_over(0, &fork);
        comm(0, 200, 200, "server", false);
        map(0, 200, 0x400000, 0x1000, "/usr/bin/server");
        fork = (struct record){.kind = RECORD_FORK,
                               .misc = PERF_RECORD_MISC_FORK_EXEC,
                               .task = {.pid = 200, .parent_pid = 200, .tid = 201}};
        hand_over(0, &fork);
        comm(0, 200, 201, "pool", false);
        sample(5, 200, 201);
        sample(6, 300, 300); /* of a process that nobody told of */
        finish();
        expect_count("process WHERE pid = 200 AND executable = '/usr/bin/server'", 1);
        expect_count("thread WHERE tid = 201 AND name = 'pool'", 1);
        expect_count("process", 2);
        expect_count("sample", 2);
        expect_count("ledger", 0);
}

TEST(mappings_have_perfs_kinds)
{
        comm(1, 9, 9, "p", true);
        static const char *const paths[] = {"/opt/p",  "//anon", "[heap]",
                                            "[stack]", "[vdso]", "anon_inode:[io_uring]"};
        for (size_t i = 0; i < LENGTH(paths); i++)
                map(2, 9, 0x10000 * (i + 1), 0x1000, paths[i]);
        finish();
        expect(
            "SELECT group_concat(kind) FROM (SELECT * FROM mapping ORDER BY start_addr)",
            "file,anon,heap,stack,vdso,anon");
        expect_count("module", 2);
}

TEST(kernel_mappings_go_where_samples_are)
{
        const uint64_t text = UINT64_C(0xffffffff81000000);
        map(0, UINT32_MAX, text, 0x1000000, "[kernel.kallsyms]_text");
        map(0, UINT32_MAX, text + 0x20000000, 0x1000, "[module]");
        struct record in_kernel = sample_of(5, 5, text + 0x1234);
        hand_over(10, &in_kernel);
        hand_over(11, &in_kernel);
        sample(12, 6, 6);
        finish();
        expect_count("mapping", 1);
        expect_count("mapping JOIN module USING (module_id) JOIN process USING "
                     "(process_id) WHERE path = '[kernel.kallsyms]' AND pid = 5",
                     1);
}

TEST(samples_keep_what_they_know)
{
        static const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0x401000, PERF_CONTEXT_USER,
                                         0x402000, 0x403000};
        struct record record = sample_of(5, 5, 0x401000);
        record.sample.callchain = chain;
        record.sample.callchain_count = 5;
        hand_over(1, &record);
        record = sample_of(5, 5, 0x404000); /* no access to memory */
        record.sample.data_src = NOTHING;
        hand_over(2, &record);
        record = sample_of(5, 5, 0x405000);
        hand_over(3, &record);
        stream.layout.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
        record = sample_of(5, 5, 0x406000); /* as of a page fault */
        hand_over(4, &record);
        record = sample_of(UINT32_MAX, UINT32_MAX, 0x407000);
        hand_over(5, &record);
        finish();
        expect("WITH RECURSIVE up (id, ip, level) AS (SELECT stack.parent_id, stack.ip, "
               "1 FROM sample JOIN stack USING (stack_id) UNION ALL SELECT parent_id, "
               "stack.ip, level + 1 FROM up JOIN stack ON stack_id = up.id) SELECT "
               "group_concat(printf('%x', ip)) FROM up",
               "401000,402001,403000");
        expect_count("sample JOIN data_source USING (data_source_id) WHERE ip = 0x404000 "
                     "AND op = 'NA' AND level = 'NA'",
                     1);
        expect_int("SELECT latency_cycles FROM sample WHERE ip = 0x405000", 77);
        expect_count(
            "sample WHERE ip = 0x406000 AND addr = 0x5000 AND latency_cycles IS NULL", 1);
        expect_count("sample", 5);
        expect_count("sample JOIN thread USING (thread_id) JOIN process USING "
                     "(process_id) WHERE ip = 0x407000 AND pid = -1 AND tid = -1",
                     1);
        expect_ledger("samples of unknown threads", 1);
}

/* The tracker's file is mapped in two pieces, which a child inherits. */
TEST(the_tracker_is_counted_and_left_out)
{
        perf_tasks_set_tracker(perf_deliver_tasks(deliver), "/opt/tracker.so");
        comm(1, 9, 9, "p", true);
        map(1, 9, 0x400000, 0x1000, "/opt/p");
        map(2, 9, 0x700000, 0x1000, "/opt/tracker.so");
        map(2, 9, 0x900000, 0x2000, "[vdso]");
        static const uint64_t from_tracker[] = {0x900010, 0x500000, 0x700123, 0x400020};
        static const uint64_t from_program[] = {0x900010, 0x500000, 0x400030};
        static const uint64_t through_it[] = {0x500040, 0x700456, 0x400050};
        const struct {
                uint64_t ip;
                const uint64_t *chain;
                size_t count;
        } samples[] = {
            {0x400000, NULL, 0},         {0x6fffff, NULL, 0},
            {0x700000, NULL, 0},         {0x700fff, NULL, 0},
            {0x701000, NULL, 0},         {0x900010, from_tracker, 4},
            {0x900010, NULL, 0}, /* nobody knows who called */
            {0x900010, from_program, 3}, {0x500040, through_it, 3},
        };
        for (size_t i = 0; i < LENGTH(samples); i++) {
                struct record record = sample_of(9, 9, samples[i].ip);
                record.sample.callchain = samples[i].chain;
                record.sample.callchain_count = samples[i].count;
                hand_over(10, &record);
        }
        fork_task(20, 9, 10, 10);
        struct record inside = sample_of(10, 10, 0x700010);
        inside.id.present |= PERF_SAMPLE_CPU;
        inside.id.cpu = 65535; /* left out as the tracker's, and counted as that alone */
        hand_over(21, &inside);
        comm(30, 10, 10, "q", true);
        map(30, 10, 0x400000, 0x1000, "/opt/q");
        hand_over(31, &inside);
        finish();
        expect_ledger("samples in the heap tracker", 4);
        expect_ledger("samples on an impossible CPU", 1);
        expect_count("sample", 7);
        expect("WITH RECURSIVE up (id, ip, level) AS (SELECT stack.parent_id, stack.ip, "
               "1 FROM sample JOIN stack USING (stack_id) WHERE sample.ip = 0x500040 "
               "UNION ALL SELECT parent_id, stack.ip, level + 1 FROM up JOIN stack ON "
               "stack_id = up.id) SELECT group_concat(printf('%x', ip)) FROM up",
               "500040,400050");
}

TEST(what_is_missing_is_counted)
{
        hand_over(1, &(struct record){.kind = RECORD_LOST, .lost = {1, 12}});
        hand_over(1, &(struct record){.kind = RECORD_LOST, .lost = {1, 3}});
        hand_over(2, &(struct record){.kind = RECORD_LOST_SAMPLES, .lost = {0, 5}});
        hand_over(3, &(struct record){.kind = RECORD_UNKNOWN, .type = 999});
        hand_over(10, &(struct record){.kind = RECORD_THROTTLE});
        hand_over(60, &(struct record){.kind = RECORD_UNTHROTTLE});
        hand_over(70, &(struct record){.kind = RECORD_UNTHROTTLE});
        hand_over(80, &(struct record){.kind = RECORD_THROTTLE});
        finish();
        expect("SELECT group_concat(kind || ' ' || value || ' ' || unit, ', ') FROM "
               "(SELECT * FROM ledger ORDER BY kind)",
               "records lost 15 records, records of unknown "
               "types 1 "
               "entries, samples lost by the CPU 5 records, throttled time 50 ns, times "
               "throttled 2 times");
}

/* Where the CPU has it: the last of the weight's three parts. */
TEST(loads_have_their_latency_of_retirement)
{
        for (int known = 0; known < 2; known++) {
                if (known)
                        begin(state);
                stream.layout.sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
                stream.layout.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
                if (known)
                        perf_deliver_set_retire_latency(deliver);
                struct record record = sample_of(100, 100, 0x401000);
                record.sample.weight |= UINT64_C(55) << 48;
                comm(10, 100, 100, "sh", true);
                hand_over(20, &record);
                finish();
                expect("SELECT latency_cycles || ' ' || coalesce(retire_latency_cycles, "
                       "'-') FROM sample",
                       known ? "77 55" : "77 -");
                if (!known)
                        leave_directory(state);
        }
}

/* A damaged recording, or one that somebody made up. */
TEST(impossible_values_are_counted_and_not_believed)
{
        static const struct {
                uint64_t weight;
                uint32_t cpu;
        } samples[] = {{UINT64_C(1) << 40, 3},
                       {(1 << 24) + 1, 65535},
                       {1 << 24, 8191},
                       {300, UINT32_MAX - 1},
                       {UINT64_MAX, 0}};
        stream.layout.sample_type |= PERF_SAMPLE_WEIGHT;
        stream.layout.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
        comm(10, 100, 100, "sh", true);
        for (size_t i = 0; i < LENGTH(samples); i++) {
                struct record record = sample_of(100, 100, 0x401000);
                record.id.present |= PERF_SAMPLE_CPU;
                record.id.cpu = samples[i].cpu;
                record.sample.weight = samples[i].weight;
                hand_over(20 + (int64_t)i, &record);
        }
        finish();
        expect("SELECT group_concat(coalesce(latency_cycles, '-') || ' ' || "
               "coalesce(cpu, '-'), ', ') FROM (SELECT * FROM sample ORDER BY sample_id)",
               "- 3, - -, 16777216 8191, 300 -, - 0");
        expect("SELECT group_concat(kind || ' ' || value, ', ') FROM (SELECT * FROM "
               "ledger ORDER BY kind)",
               "samples of an impossible latency 3, samples on an impossible CPU 2");
}
