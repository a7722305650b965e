/* SPDX-License-Identifier: MIT */
/* The tracker's unwinder against the C library's (backtrace, which is libgcc's). */
#include <execinfo.h>
#include <pthread.h>

#include "heap_calls.h"
#include "unit_test.h"
#include "unwinder.h"

enum { FRAMES = 64 };

/* A stub for the rest of the tracker. */
bool calls_have_little_stack(void)
{
        return false;
}

/* Calls both unwinders here: all frames but the first are the same. */
__attribute__((noinline)) static void compare_here(void)
{
        void *wanted[FRAMES];
        uint64_t found[FRAMES];
        const uintptr_t *frame = __builtin_frame_address(0);
        struct unwind_frame caller = {
            .pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
        int depth = backtrace(wanted, FRAMES);
        size_t count = unwind(&caller, found, FRAMES);
        /* A sanitizer's own backtrace has a frame more. */
        int first = 0;
        while (first < depth && (uintptr_t)wanted[first] != found[0])
                first++;
        assert_true(depth - first > 4);
        assert_int_equal(count, depth - first);
        for (size_t i = 0; i < count; i++)
                assert_int_equal(found[i], (uintptr_t)wanted[first + (int)i]);
}

__attribute__((noinline)) static void with_array(size_t length)
{
        volatile char array[length];
        array[0] = 1;
        compare_here();
        array[length - 1] = array[0];
}

/* Needs a realigned stack, whose CFA is in memory. */
__attribute__((noinline, optimize("O2"))) static void realigned(size_t length)
{
        volatile __attribute__((aligned(64))) char wide[128];
        wide[0] = (char)length;
        with_array(length);
        wide[127] = wide[0];
}

__attribute__((noinline)) static void recursive(int depth)
{
        if (depth == 0)
                realigned(100 + (size_t)depth);
        else
                recursive(depth - 1);
        __asm__ volatile("");
}

static int compare_elements(const void *a, const void *b)
{
        compare_here();
        return *(const int *)a - *(const int *)b;
}

TEST(frames_are_those_of_backtrace)
{
        for (int round = 0; round < 2; round++) { /* found, then remembered */
                compare_here();
                with_array(5000);
                realigned(10);
                recursive(20);
                int numbers[] = {3, 1, 2};
                qsort(numbers, 3, sizeof(numbers[0]), compare_elements);
                unwind_forget();
        }
}

static void *in_thread(void *unused)
{
        recursive(5);
        return unused;
}

TEST(threads_have_stacks_of_their_own)
{
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
                assert_ok(pthread_create(&threads[i], NULL, in_thread, NULL));
        for (int i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
}

TEST(a_stack_is_cut_off_at_the_limit)
{
        uint64_t frames[3];
        const uintptr_t *frame = __builtin_frame_address(0);
        struct unwind_frame caller = {
            .pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
        assert_int_equal(unwind(&caller, frames, 2), 2);
}

/* ---- numbers of stacks ---- */

enum { PATHS = 256, PATH_CALLS = 8, PATH_FRAMES = 64 };

struct path {
        uint64_t frames[PATH_FRAMES];
        size_t depth;
        uint64_t hash;
};

__attribute__((noinline)) static void number_here(struct path *path)
{
        const uintptr_t *frame = __builtin_frame_address(0);
        struct unwind_frame caller = {
            .pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
        size_t depth;
        path->hash = unwind_hash(&caller, PATH_FRAMES, &depth);
        path->depth = unwind(&caller, path->frames, PATH_FRAMES);
        assert_int_equal(depth, path->depth);
}

/* Two calls at each level, whose frames lie at the same addresses. */
__attribute__((noinline)) static void go(unsigned way, int calls, struct path *path)
{
        if (calls == 0)
                number_here(path);
        else if (way & 1) {
                go(way >> 1, calls - 1, path);
                __asm__ volatile("# the one");
        } else {
                go(way >> 1, calls - 1, path);
                __asm__ volatile("# the other");
        }
        __asm__ volatile("");
}

/* Takes each path many times, in random order. */
static void *numbers_are_as_different_as_stacks(void *unused)
{
        struct path *known = calloc(PATHS, sizeof(*known));
        assert_non_null(known);
        unsigned random = 1;
        for (int round = 0; round < 40 * PATHS; round++) {
                random = random * 1664525 + 1013904223;
                unsigned way = (random >> 16) % PATHS;
                struct path path;
                go(way, PATH_CALLS, &path);
                if (known[way].depth == 0) {
                        for (unsigned other = 0; other < PATHS; other++)
                                assert_true(known[other].hash != path.hash);
                        known[way] = path;
                }
                assert_int_equal(path.hash, known[way].hash);
                assert_int_equal(path.depth, known[way].depth);
                assert_memory_equal(path.frames, known[way].frames,
                                    path.depth * sizeof(path.frames[0]));
                if (round % 1000 == 999)
                        unwind_forget();
        }
        free(known);
        return unused;
}

TEST(stacks_have_numbers_of_their_own)
{
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
                assert_ok(pthread_create(&threads[i], NULL,
                                         numbers_are_as_different_as_stacks, NULL));
        numbers_are_as_different_as_stacks(NULL);
        for (int i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
}

/* The unwinder finds the callers by the frame pointer alone. */
__attribute__((noinline)) static void above_array(size_t length, struct path *path)
{
        volatile char array[length];
        array[0] = 1;
        go(0, 1, path);
        array[length - 1] = array[0];
}

__attribute__((noinline)) static void in_two_places(size_t length, struct path *path)
{
        enum { BOTH_BYTES = 4096 };
        volatile char array[length];
        array[0] = 1;
        if (length < BOTH_BYTES / 2) {
                above_array(BOTH_BYTES - length, path);
                __asm__ volatile("# the one");
        } else {
                above_array(BOTH_BYTES - length, path);
                __asm__ volatile("# the other");
        }
        array[length - 1] = array[0];
}

/* The return address of an earlier call remains in stack memory. */
TEST(frames_that_were_left_are_not_taken_for_those_of_now)
{
        struct path paths[3];
        const volatile size_t lengths[] = {1024, 3072, 1024};
        for (volatile int i = 0; i < 3; i++)
                in_two_places(lengths[i], &paths[i]);
        assert_true(paths[0].frames[3] != paths[1].frames[3]);
        assert_true(paths[0].hash != paths[1].hash);
        assert_int_equal(paths[0].hash, paths[2].hash);
}

TEST(a_number_is_of_the_frames_up_to_the_limit)
{
        const uintptr_t *frame = __builtin_frame_address(0);
        struct unwind_frame caller = {
            .pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
        uint64_t frames[FRAMES], numbers[FRAMES];
        size_t all = unwind(&caller, frames, FRAMES), depth;
        assert_true(all > 3 && all < FRAMES);
        for (size_t limit = 1; limit < FRAMES; limit++) {
                numbers[limit] = unwind_hash(&caller, limit, &depth);
                assert_int_equal(depth, limit < all ? limit : all);
                for (size_t less = 1; less < limit && limit <= all; less++)
                        assert_true(numbers[less] != numbers[limit]);
                unwind_forget(); /* the limit is one and the same otherwise */
        }
        assert_int_equal(numbers[all], numbers[FRAMES - 1]);
}
