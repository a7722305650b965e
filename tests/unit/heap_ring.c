/* SPDX-License-Identifier: MIT */
/* The heap tracker's ring, with writers interrupted after any instruction, for a while
 * or for ever. The reader gets all records of the other writers. The trap flag raises a
 * signal after each instruction; the signal handler jumps out of the writer. */
#include "heap_ring.h"
#include "../integration/heap/trap_flag.h"
#include "heap_calls.h"
#include "heap_thread.h"
#include "link.h"
#include "sim_ring.h"
#include "unit_test.h"

/* ---- stubs for the rest of the tracker ---- */

__thread union heap_thread heap_thread;

long calls_do(long number, long a, long b, long c, long d, long e, long f)
{
        return 0;
}

bool link_is_gone(void)
{
        return true; /* nobody waits for room */
}

void link_ring(void)
{
}

/* ---- writers ---- */

enum { TAIL_OF_RING = 32, SMALL = 0, LARGE = 1 };
#define START                                                                            \
        (UINT64_C(1) << 34) /* here the end position in a note wraps around to zero */

static struct simpmu_slice *slice;
static struct sim_ring reader;

/* A ring whose next reservation begins at POSITION. */
static void begin(uint64_t position)
{
        if (slice)
                munmap(slice, SIMPMU_SLICE_BYTES);
        slice = mmap(NULL, SIMPMU_SLICE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_ptr_not_equal(slice, MAP_FAILED);
        slice->latest = owner_note((struct owner){position, 0, 0});
        slice->tail = slice->taken = position;
        reader =
            (struct sim_ring){.slice = slice, .tail = position, .many_producers = true};
}

/* The first word of the reservation at START. */
static const uint64_t *first_word(void)
{
        return (const uint64_t *)(const void *)((const char *)slice +
                                                SIMPMU_SLICE_HEADER_BYTES);
}

/* A simulated thread. */
struct writer {
        union heap_thread state;
};

static void begin_writer(struct writer *writer, uint32_t tid)
{
        memset(writer, 0, sizeof(*writer));
        writer->state.tid = tid;
}

static bool write_record(uint64_t addr, int size)
{
        uint64_t bytes =
            size == SMALL ? sizeof(struct simpmu_free) : sizeof(struct simpmu_alloc_at);
        struct simpmu_free *record = ring_reserve(slice, bytes);
        if (!record)
                return false;
        memset(&record->header.tid, 0, bytes - offsetof(struct simpmu_record, tid));
        record->header.tid = heap_thread.tid;
        record->addr = addr;
        ring_commit(slice, size == SMALL ? SIMPMU_FREE : SIMPMU_ALLOC_AT);
        return true;
}

static bool write_as(struct writer *writer, uint64_t addr, int size)
{
        heap_thread = writer->state;
        bool written = write_record(addr, size);
        writer->state = heap_thread;
        return written;
}

static void abandon_as(struct writer *writer)
{
        heap_thread = writer->state;
        ring_abandon(slice);
        writer->state = heap_thread;
}

/* ---- one instruction after the other ---- */

static sigjmp_buf away;
static volatile long steps_left;

static void on_trap(int number)
{
        if (--steps_left < 0)
                siglongjmp(away, 1);
}

/* Interrupts WRITER after STEPS instructions; false: its record was complete before. */
static bool leave_as(struct writer *writer, uint64_t addr, int size, long steps)
{
        volatile bool left = true;
        heap_thread = writer->state;
        steps_left = steps;
        if (sigsetjmp(away, 1) == 0) {
                set_trap_flag(true);
                write_record(addr, size);
                set_trap_flag(false);
                left = false;
        }
        writer->state = heap_thread;
        return left;
}

static int set_up(void **state)
{
        struct sigaction action = {.sa_handler = on_trap};
        return sigaction(SIGTRAP, &action, NULL);
}

/* ---- the reader ---- */

static bool next(uint64_t *addr)
{
        static _Alignas(8) char buffer[SIM_RECORD_MAX_BYTES];
        const char *fault;
        int found = sim_ring_peek(&reader, buffer, &fault);
        assert_true(found >= 0);
        if (found == 0)
                return false;
        *addr = ((const struct simpmu_free *)(const void *)buffer)->addr;
        sim_ring_pop(&reader, buffer);
        return true;
}

static void expect(uint64_t wanted)
{
        uint64_t addr = 0;
        assert_true(next(&addr));
        assert_int_equal(addr, wanted);
}

/* The ring still holds the WANTED records; OPTIONAL (a bit mask) may be missing. */
static void expect_all(const uint64_t *wanted, size_t count, uint64_t optional)
{
        uint64_t found = 0, addr;
        while (next(&addr)) {
                size_t i = 0;
                while (i < count && wanted[i] != addr)
                        i++;
                assert_in_range(i, 0, count - 1);
                assert_false(found >> i & 1);
                found |= UINT64_C(1) << i;
        }
        assert_int_equal(found | optional, (UINT64_C(1) << count) - 1);
        assert_int_equal(reader.tail, owner_head(slice, reader.tail));
}

/* ---- tests ---- */

/* A writer that returns voids its unfinished record; others may have written since. */
TEST(what_was_left_is_void)
{
        for (int size = SMALL; size <= LARGE; size++)
                for (int others = 0; others <= 2; others++) {
                        bool left = true;
                        for (long steps = 0; left; steps++) {
                                struct writer a, b, c;
                                begin(START - (size == LARGE ? TAIL_OF_RING : 0));
                                begin_writer(&a, 1);
                                begin_writer(&b, 2);
                                begin_writer(&c, 3);
                                left = leave_as(&a, 10, size, steps);
                                if (others > 0)
                                        write_as(&b, 20, size);
                                if (others > 1)
                                        write_as(&c, 30, size);
                                abandon_as(&a);
                                write_as(&a, 11, SMALL);
                                const uint64_t wanted[] = {10, 11, 20, 30};
                                expect_all(wanted, 2 + others, left ? 1 : 0);
                        }
                }
}

/* Two interrupted writers, at the same position or one after the other. */
TEST(two_are_left)
{
        bool left_a = true;
        for (long steps_a = 0; left_a; steps_a++) {
                bool left_b = true;
                for (long steps_b = steps_a % 11; left_b; steps_b += 11) {
                        struct writer a, b, c;
                        begin(START - TAIL_OF_RING);
                        begin_writer(&a, 1);
                        begin_writer(&b, 2);
                        begin_writer(&c, 3);
                        left_a = leave_as(&a, 10, LARGE, steps_a);
                        left_b = leave_as(&b, 20, SMALL, steps_b);
                        write_as(&c, 30, LARGE);
                        abandon_as(steps_b % 2 ? &a : &b);
                        write_as(&c, 31, SMALL);
                        abandon_as(steps_b % 2 ? &b : &a);
                        const uint64_t wanted[] = {10, 20, 30, 31};
                        expect_all(wanted, 4, (left_a ? 1 : 0) | (left_b ? 2 : 0));
                }
        }
}

/* The record of a dead thread stalls the reader, which knows the thread's id. */
TEST(the_dead_are_passed_over)
{
        for (int size = SMALL; size <= LARGE; size++)
                for (int others = 0; others <= 2; others++) {
                        bool left = true, waited = false;
                        for (long steps = 0; left; steps++) {
                                struct writer a, b;
                                uint64_t addr;
                                begin(START - (size == LARGE ? TAIL_OF_RING : 0));
                                begin_writer(&a, 1);
                                begin_writer(&b, 2);
                                left = leave_as(&a, 10, size, steps);
                                for (int i = 0; i < others; i++)
                                        write_as(&b, 20 + i, size);
                                struct owner owner = sim_ring_owner(&reader);
                                if (owner.tid != 0) {
                                        assert_int_equal(owner.tid, 1);
                                        assert_false(next(&addr));
                                        sim_ring_pass_over(&reader, &owner);
                                        waited = true;
                                }
                                const uint64_t wanted[] = {10, 20, 21};
                                expect_all(wanted, 1 + others, left ? 1 : 0);
                        }
                        assert_true(waited);
                }
}

/* Writer A is interrupted, and the reader reads its record if it is complete. B reuses
 * the space before A returns. */
static void reads_what_is_left(long steps, bool others, bool *left)
{
        struct writer a, b;
        uint64_t addr, written = 0, read = 0;
        begin(START);
        begin_writer(&a, 1);
        begin_writer(&b, 2);
        *left = leave_as(&a, 1, SMALL, steps);
        if (others)
                write_as(&b, 1000 + written++, SMALL);
        while (next(&addr))
                if (addr >= 1000)
                        assert_int_equal(addr, 1000 + read++);
        sim_ring_release(&reader);
        struct writer early = a;
        abandon_as(&early);
        if (reader.tail > START)
                assert_int_equal(*first_word(), 0);
        while (write_as(&b, 1000 + written, SMALL))
                written++;
        abandon_as(&a);
        while (next(&addr))
                if (addr >= 1000)
                        assert_int_equal(addr, 1000 + read++);
        assert_int_equal(read, written);
        assert_int_equal(reader.tail, owner_head(slice, reader.tail));
}

TEST(what_was_read_is_let_be)
{
        for (int others = 0; others <= 1; others++) {
                bool left = true;
                for (long steps = 0; left; steps++)
                        reads_what_is_left(steps, others, &left);
        }
}

/* An unused ring, an overwritten one, and one whose only record is complete. */
TEST(a_ring_without_owners)
{
        struct writer a;
        begin(START);
        assert_int_equal(sim_ring_owner(&reader).tid, 0);
        slice->latest = owner_note((struct owner){START, 64, 0});
        assert_int_equal(sim_ring_owner(&reader).tid, 0);
        slice->latest = UINT64_MAX;
        assert_int_equal(sim_ring_owner(&reader).tid, 0);
        begin(0);
        begin_writer(&a, 1);
        write_as(&a, 10, SMALL);
        assert_int_equal(sim_ring_owner(&reader).tid, 0);
        expect(10);
}

int main(void)
{
        return run_unit_tests(set_up, NULL);
}
