/* SPDX-License-Identifier: MIT */
/* The consumer of the simulated PMU's records, against producers made here. */
#define TEST_SETUP begin
#include "sink_test.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sim_images.h"
#include "sim_ring.h"
#include "simpmu/slice.h"

static struct sim_memory memory;
static struct sim_images *images;

static int begin(void **state)
{
        if (enter_directory(state))
                return -1;
        open_sink();
        assert_ok(sim_memory_open(&memory, &diag));
        images = sim_images_new(&memory, sink, false);
        assert_non_null(images);
        return 0;
}

static void drain(void)
{
        assert_ok(sim_images_drain(images, &diag));
}

static void finish(void)
{
        assert_ok(sim_images_finish(images, &diag));
        close_sink();
        sim_images_free(images);
        sim_memory_close(&memory);
}

/* ---- a producer ---- */

static struct simpmu_slice *claim(uint64_t start_ns)
{
        uint64_t number =
            __atomic_fetch_add(&memory.control->slices_claimed, 1, __ATOMIC_ACQ_REL);
        struct simpmu_slice *slice = sim_memory_map(&memory, number, &diag);
        assert_non_null(slice);
        slice->start_ns = slice->now_ns = start_ns;
        __atomic_store_n(&slice->magic, SIMPMU_MAGIC, __ATOMIC_RELEASE);
        return slice;
}

/* Waits as the protocol says: announce, look again, sleep on the futex. */
static void wait_for_room(struct simpmu_slice *slice, uint64_t size)
{
        while (!slice_has_room(slice, size)) {
                uint32_t seen = __atomic_load_n(&slice->space_futex, __ATOMIC_ACQUIRE);
                __atomic_store_n(&slice->producer_waits, 1, __ATOMIC_SEQ_CST);
                if (slice_has_room(slice, size))
                        break;
                syscall(SYS_futex, &slice->space_futex, FUTEX_WAIT, seen, NULL, NULL, 0);
        }
        __atomic_store_n(&slice->producer_waits, 0, __ATOMIC_RELEASE);
}

static void put(struct simpmu_slice *slice, const void *record)
{
        const struct simpmu_record *header = record;
        wait_for_room(slice, header->size_bytes);
        memcpy(slice_reserve(slice, header->size_bytes), record, header->size_bytes);
        slice_publish(slice, header->size_bytes);
}

static struct simpmu_record header_of(uint16_t type, size_t size, uint64_t time_ns)
{
        return (struct simpmu_record){.size_bytes = (uint32_t)((size + 7) & ~(size_t)7),
                                      .type = type,
                                      .tid = 1,
                                      .time_ns = time_ns};
}

static void put_process(struct simpmu_slice *slice, uint16_t flags, uint32_t pid,
                        uint64_t origin, uint64_t time_ns)
{
        struct {
                struct simpmu_process process;
                char executable[8];
        } record = {.executable = "program"};
        record.process.header = header_of(SIMPMU_PROCESS, sizeof(record), time_ns);
        record.process.header.flags = flags;
        record.process.pid = pid;
        record.process.origin = origin;
        put(slice, &record);
}

static struct simpmu_slice *start_process(void)
{
        struct simpmu_slice *slice = claim(0);
        put_process(slice, SIMPMU_STARTED, 10, 0, 0);
        return slice;
}

static void put_sample(struct simpmu_slice *slice, uint64_t time_ns, uint64_t addr)
{
        struct {
                struct simpmu_sample sample;
                uint64_t frames[3];
        } record = {
            .sample = {.header = header_of(SIMPMU_SAMPLE, sizeof(record), time_ns),
                       .ip = 1,
                       .addr = addr,
                       .latency_cycles = 100,
                       .level = SIMPMU_LEVEL_DRAM,
                       .depth = 3},
            .frames = {1, 2, 3}};
        put(slice, &record);
}

static void put_map(struct simpmu_slice *slice, uint64_t time_ns, uint64_t start)
{
        struct {
                struct simpmu_map map;
                char path[8];
        } record = {.map = {.header = header_of(SIMPMU_MAP, sizeof(record), time_ns),
                            .start = start,
                            .length_bytes = 4096,
                            .kind = SIMPMU_MAP_ANON}};
        put(slice, &record);
}

/* ---- tests ---- */

/* Four rings' worth of samples from another process, which must wait for room. */
TEST(every_record_of_a_busy_producer_arrives)
{
        enum { SAMPLES = 4 * SIMPMU_RING_BYTES / (sizeof(struct simpmu_sample) + 24) };
        struct simpmu_slice *slice = claim(0);
        pid_t producer = fork();
        if (producer == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                put_process(slice, SIMPMU_STARTED, 10, 0, 0);
                for (uint64_t i = 0; i < SAMPLES; i++)
                        put_sample(slice, i, i);
                wait_for_room(slice, sizeof(struct simpmu_record));
                slice_end(slice, SIMPMU_EXITED, SAMPLES);
                _exit(0);
        }
        int status = -1;
        while (waitpid(producer, &status, WNOHANG) == 0)
                drain();
        assert_int_equal(status, 0);
        finish();
        expect_count("sample", SAMPLES);
        expect_int("SELECT count(DISTINCT addr) FROM sample", SAMPLES);
        expect_int("SELECT end_ns FROM process", SAMPLES);
        expect_count("ledger", 0);
}

static void put_fork_of(struct simpmu_slice *slice, uint16_t flags, uint64_t time_ns,
                        uint64_t child)
{
        struct simpmu_fork record = {
            .header = header_of(SIMPMU_FORK, sizeof(record), time_ns), .child = child};
        record.header.flags = flags;
        put(slice, &record);
}

static void put_fork(struct simpmu_slice *slice, uint64_t time_ns, uint64_t child)
{
        put_fork_of(slice, 0, time_ns, child);
}

static void assert_only_mapping(long long process_id, long long start_addr)
{
        expect_int(text_of("SELECT count(*) FROM mapping WHERE process_id = %lld AND"
                           " start_addr = %lld",
                           process_id, start_addr),
                   1);
        expect_int(
            text_of("SELECT count(*) FROM mapping WHERE process_id = %lld", process_id),
            1);
}

TEST(a_child_inherits_what_was_there_at_the_fork)
{
        struct simpmu_slice *parent = start_process();
        put_map(parent, 100, 0x10000);
        struct simpmu_slice *child = claim(150);
        put_fork(parent, 150, 1);
        put_process(child, SIMPMU_FORKED, 11, 1, 150);
        put_map(parent, 150, 0x20000);
        drain();
        finish();
        expect_count("mapping WHERE process_id = 1", 2);
        assert_only_mapping(2, 0x10000);
        expect_int("SELECT parent_process_id FROM process WHERE process_id = 2", 1);
}

/* A busy machine may run the child long after its parent has gone on, or has ended. */
TEST(a_child_that_comes_late_inherits_the_same)
{
        struct simpmu_slice *parent = start_process();
        put_map(parent, 100, 0x10000);
        claim(150);
        put_fork(parent, 150, 1);
        put_map(parent, 150, 0x20000);
        drain();
        slice_end(parent, SIMPMU_EXITED, 300);
        drain();
        struct simpmu_slice *child = sim_memory_map(&memory, 1, &diag);
        put_process(child, SIMPMU_FORKED, 11, 1, 150);
        drain();
        finish();
        assert_only_mapping(2, 0x10000);
        expect_int("SELECT start_ns FROM process WHERE process_id = 2", 150);
        expect_count("ledger", 0);
}

/* The next fork uses the slice of one that failed. */
TEST(a_fork_that_failed_leaves_nothing_to_the_next_child)
{
        struct simpmu_slice *parent = start_process();
        put_map(parent, 100, 0x10000);
        struct simpmu_slice *child = claim(150);
        put_fork(parent, 150, 1);
        drain();
        struct simpmu_unmap unmap = {.header =
                                         header_of(SIMPMU_UNMAP, sizeof(unmap), 160),
                                     .start = 0x10000,
                                     .length_bytes = 4096};
        put(parent, &unmap);
        put_map(parent, 170, 0x20000);
        put_fork(parent, 180, 1);
        put_process(child, SIMPMU_FORKED, 11, 1, 180);
        finish();
        assert_only_mapping(2, 0x20000);
}

TEST(a_child_of_a_damaged_parent_begins_all_the_same)
{
        struct simpmu_slice *parent = start_process();
        struct simpmu_slice *child = claim(150);
        put_process(child, SIMPMU_FORKED, 11, 1, 150);
        put_sample(child, 170, 0);
        drain();
        assert_true(slice_used_bytes(child) > 0);
        struct simpmu_record unknown = header_of(99, sizeof(unknown), 2);
        put(parent, &unknown);
        put_fork(parent, 150, 1);
        drain();
        assert_int_equal(slice_used_bytes(child), 0);
        finish();
        expect_count("process", 2);
        expect_count("sample", 1);
}

/* Two processes with one PID, in different PID namespaces; one runs a new program. */
TEST(equal_pids_are_not_one_process)
{
        struct simpmu_slice *first = claim(0);
        put_process(first, SIMPMU_STARTED, 1, 0, 0);
        put_map(first, 50, 0x10000);
        struct simpmu_slice *second = claim(60);
        put_fork(first, 60, 1);
        put_process(second, SIMPMU_FORKED, 1, 1, 60);
        slice_end(second, SIMPMU_EXECED, 100);
        struct simpmu_slice *third = claim(100);
        put_process(third, SIMPMU_STARTED, 1, 2, 100);
        drain();
        put_sample(first, 200, 0);
        slice_end(first, SIMPMU_EXITED, 300);
        slice_end(third, SIMPMU_EXITED, 400);
        finish();
        expect_int("SELECT end_ns FROM process WHERE process_id = 1", 300);
        expect_int("SELECT end_ns FROM process WHERE process_id = 2", 100);
        expect_int("SELECT parent_process_id FROM process WHERE process_id = 3", 2);
        expect_count("mapping WHERE process_id = 3", 0);
        expect_count("sample", 1);
}

TEST(who_lives_at_the_end_is_told_by_its_lock)
{
        struct simpmu_slice *slice = claim(0);
        int channel[2];
        assert_ok(pipe(channel));
        pid_t producer = fork();
        if (producer == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                struct flock lock = {.l_type = F_WRLCK,
                                     .l_whence = SEEK_SET,
                                     .l_start = (off_t)slice_offset(0),
                                     .l_len = 1};
                struct flock ours = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
                fcntl(memory.fd, F_SETLK, &lock);
                fcntl(memory.fd, F_GETLK, &ours);
                put_process(slice, SIMPMU_STARTED, 10, 0, 0);
                /* The child, too, sees that memlag is alive. */
                (void)!write(channel[1], ours.l_type == F_UNLCK ? "0" : "1", 1);
                pause();
        }
        char lives = 0;
        assert_int_equal(read(channel[0], &lives, 1), 1);
        assert_int_equal(lives, '1');
        close(channel[0]);
        close(channel[1]);
        assert_true(sim_memory_lives(&memory, 0));
        finish();
        kill(producer, SIGKILL);
        assert_int_equal(waitpid(producer, NULL, 0), producer);
        expect_ledger("processes left running", 1);
}

/* ---- no process is lost ---- */

/* A slice that is claimed for a child, which has not begun. */
static void claim_only(void)
{
        __atomic_fetch_add(&memory.control->slices_claimed, 1, __ATOMIC_ACQ_REL);
}

TEST(a_child_that_never_began_is_counted)
{
        struct simpmu_slice *parent = start_process();
        put_fork(parent, 100, 1);
        claim_only();
        slice_end(parent, SIMPMU_EXITED, 200);
        finish();
        expect_count("process", 1);
        expect_ledger("processes without records", 1);
        expect_count("ledger", 1);
}

TEST(a_fork_that_was_taken_back_has_no_child)
{
        struct simpmu_slice *parent = start_process();
        put_fork(parent, 100, 1);
        claim_only();
        put_fork_of(parent, SIMPMU_FORK_FAILED, 100, 1);
        drain();
        slice_end(parent, SIMPMU_EXITED, 200);
        finish();
        expect_count("ledger", 0);
}

/* No record of the three processes is read before the recording ends. */
TEST(children_of_ended_children_are_found_at_the_end)
{
        struct simpmu_slice *parent = start_process();
        put_fork(parent, 100, 1);
        struct simpmu_slice *child = claim(100);
        slice_end(parent, SIMPMU_EXITED, 110);
        put_process(child, SIMPMU_FORKED, 11, 1, 100);
        put_fork(child, 120, 2);
        claim_only();
        slice_end(child, SIMPMU_EXITED, 130);
        finish();
        expect_count("process WHERE end_ns IS NOT NULL", 2);
        expect_ledger("processes without records", 1);
}

TEST(a_process_between_two_programs_is_counted_as_such)
{
        struct simpmu_slice *slice = start_process();
        __atomic_store_n(&slice->executing, 1, __ATOMIC_RELEASE);
        finish();
        expect_ledger("processes between two programs", 1);
        expect_count("ledger", 1);
}

/* It has begun where the one before could not write its end. */
TEST(a_process_that_has_begun_its_next_program_is_counted_once)
{
        struct simpmu_slice *first = start_process();
        __atomic_store_n(&first->executing, 1, __ATOMIC_RELEASE);
        struct simpmu_slice *second = claim(100);
        put_process(second, SIMPMU_STARTED, 10, 1, 100);
        slice_end(second, SIMPMU_EXITED, 200);
        finish();
        expect_count("process WHERE end_ns IS NOT NULL", 2);
        expect_count("ledger", 0);
}

/* Until its successor has looked at it, the header of an exec'd image must stay. */
TEST(the_memory_of_ended_images_is_given_back)
{
        struct simpmu_slice *first = start_process();
        for (uint64_t i = 0; i < 10000; i++)
                put_sample(first, i, i);
        slice_end(first, SIMPMU_EXECED, 12345);
        first->now_ns = 12345;
        drain();
        struct stat status;
        assert_ok(fstat(memory.fd, &status));
        assert_true(status.st_blocks * 512 <= 3 * 4096);
        assert_int_equal(first->now_ns, 12345);

        struct simpmu_slice *second = claim(12345);
        put_process(second, SIMPMU_STARTED, 10, 1, 12345);
        drain();
        assert_int_equal(first->now_ns, 0);
        finish();
}

/* Nobody writes END for a process that SIGKILL ended. */
TEST(a_killed_process_ends_at_the_time_it_had_reached)
{
        struct simpmu_slice *slice = start_process();
        put_sample(slice, 70, 0);
        slice->now_ns = 77;
        finish();
        expect_count("sample", 1);
        expect_int("SELECT end_ns FROM process", 77);
        expect_count("ledger", 0);
}

/* Another test covers the end of the command itself. */
TEST(a_killed_child_is_counted)
{
        struct simpmu_slice *parent = start_process();
        put_fork(parent, 100, 1);
        struct simpmu_slice *child = claim(100);
        child->parent = 1;
        put_process(child, SIMPMU_FORKED, 11, 1, 100);
        drain();
        slice_end(parent, SIMPMU_EXITED, 200);
        finish();
        expect_ledger("processes ended by a signal", 1);
        expect_count("ledger", 1);
}

TEST(claimed_slices_without_a_process_are_harmless)
{
        claim(0);
        __atomic_fetch_add(&memory.control->slices_claimed, 1, __ATOMIC_ACQ_REL);
        drain();
        finish();
        expect_count("process", 0);
}

/* A damaged record ends only the slice that contains it; its producer can go on. */
TEST(damaged_records_end_their_process_and_nothing_else)
{
        struct simpmu_slice *good = start_process();
        struct simpmu_slice *bad = claim(0);
        put_process(bad, SIMPMU_STARTED, 11, 0, 0);
        put_sample(bad, 1, 1);
        struct simpmu_record unknown = header_of(99, sizeof(unknown), 2);
        put(bad, &unknown);
        put_sample(bad, 3, 3);
        drain();
        assert_int_equal(slice_used_bytes(bad), 0);
        put_sample(bad, 4, 4);
        put_sample(good, 5, 5);
        drain();
        assert_int_equal(slice_used_bytes(bad), 0);
        finish();
        expect_count("sample", 2);
        expect_ledger("processes with damaged records", 1);
}

TEST(first_records_that_begin_no_process_are_refused)
{
        put_sample(claim(0), 1, 1);
        drain();
        finish();
        expect_count("process", 0);
        expect_ledger("processes with damaged records", 1);
}

/* ---- hostile bytes ---- */

TEST_WITH(records_that_do_not_fit_their_size_are_told, NULL, NULL)
{
        uint64_t space[64] = {0};
        struct simpmu_record *record = (struct simpmu_record *)space;
        for (uint16_t type = 0; type < 40; type++) {
                record->type = type;
                assert_non_null(sim_record_fault(record, sizeof(*record) - 8));
        }
        *record = header_of(SIMPMU_SAMPLE, sizeof(struct simpmu_sample), 0);
        ((struct simpmu_sample *)record)->depth = 1;
        assert_non_null(sim_record_fault(record, sizeof(struct simpmu_sample)));
        assert_null(sim_record_fault(record, sizeof(struct simpmu_sample) + 8));
        ((struct simpmu_sample *)record)->other_depth = 1;
        assert_non_null(sim_record_fault(record, sizeof(struct simpmu_sample) + 8));
        assert_null(sim_record_fault(record, sizeof(struct simpmu_sample) + 16));
        ((struct simpmu_sample *)record)->stack_frame = 1;
        assert_non_null(sim_record_fault(record, sizeof(struct simpmu_sample) + 16));
        ((struct simpmu_sample *)record)->stack_frame = 0;
        ((struct simpmu_sample *)record)->depth = UINT16_MAX;
        assert_non_null(sim_record_fault(record, sizeof(space)));
        memset(space, 0, sizeof(space));
        *record = header_of(SIMPMU_MAP, sizeof(struct simpmu_map) + 8, 0);
        assert_null(sim_record_fault(record, sizeof(struct simpmu_map) + 8));
        ((struct simpmu_map *)record)->build_id_bytes = 21;
        assert_non_null(sim_record_fault(record, sizeof(struct simpmu_map) + 8));
        ((struct simpmu_map *)record)->build_id_bytes = 20;
        memset(((struct simpmu_map *)record)->path, 'x', 8);
        assert_non_null(sim_record_fault(record, sizeof(struct simpmu_map) + 8));
}
