/* SPDX-License-Identifier: MIT */
/* The tracker's unwinder beside the C library's (backtrace, which is libgcc's), in frames
 * of every kind that compilers make; and rules out of bytes that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "unwinder.h"

enum { FRAMES = 64 };

/* What the unwinder is linked with in the tracker. */
bool calls_have_little_stack(void)
{
        return false;
}

/* Both from inside this function, so that all frames but the first are the same. */
__attribute__((noinline)) static void compare_here(void)
{
        void *wanted[FRAMES];
        uint64_t found[FRAMES];
        const uintptr_t *frame = __builtin_frame_address(0);
        struct unwind_frame caller = {
            .pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
        int depth = backtrace(wanted, FRAMES);
        size_t count = unwind(caller, found, FRAMES);
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

static void frames_are_those_of_backtrace(void **state)
{
        (void)state;
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

static void threads_have_stacks_of_their_own(void **state)
{
        (void)state;
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, in_thread, NULL), 0);
        for (int i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
}

static void a_stack_is_cut_off_at_the_limit(void **state)
{
        (void)state;
        uint64_t frames[3];
        const uintptr_t *frame = __builtin_frame_address(0);
        struct unwind_frame caller = {
            .pc = frame[1], .sp = (uintptr_t)(frame + 2), .bp = frame[0]};
        assert_int_equal(unwind(caller, frames, 2), 2);
}

/* A sanitizer knows gaps between this program's objects; the section is no object. */
__attribute__((no_sanitize_address)) static void copy_any(char *to, const void *from,
                                                          size_t length)
{
        const volatile char *bytes = from;
        for (size_t i = 0; i < length; i++)
                to[i] = bytes[i];
}

/* This program's own section, copied beside a page that must not be read, cut off at each
 * length and with each byte changed. */
static void damaged_sections_do_no_harm(void **state)
{
        (void)state;
        struct dl_find_object object;
        uintptr_t pc = (uintptr_t)recursive;
        assert_int_equal(_dl_find_object((void *)pc, &object), 0);
        size_t size =
            (size_t)((char *)object.dlfo_map_end - (char *)object.dlfo_eh_frame);
        if (size > 65536)
                size = 65536;
        size_t pages = (size + 8191) / 4096 * 4096;
        char *copy =
            mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(copy != MAP_FAILED);
        mprotect(copy + pages - 4096, 4096, PROT_NONE);
        char *end = copy + pages - 4096;
        srand(5);
        for (size_t length = 1; length < size; length += 1 + length / 64) {
                copy_any(end - length, object.dlfo_eh_frame, length);
                unwind_rule_find(pc, end - length, end - length, end);
        }
        char *start = end - size;
        for (int round = 0; round < 20000; round++) {
                copy_any(start, object.dlfo_eh_frame, size < 4096 ? size : 4096);
                for (int i = 0; i < 3; i++)
                        start[(size_t)rand() % (size < 4096 ? size : 4096)] =
                            (char)rand();
                uintptr_t near =
                    (uintptr_t)start + (pc - (uintptr_t)object.dlfo_eh_frame);
                unwind_rule_find(near, start, start, end);
        }
        munmap(copy, pages);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(frames_are_those_of_backtrace),
            cmocka_unit_test(threads_have_stacks_of_their_own),
            cmocka_unit_test(a_stack_is_cut_off_at_the_limit),
            cmocka_unit_test(damaged_sections_do_no_harm),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
