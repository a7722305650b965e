/* SPDX-License-Identifier: MIT */
/* TEST(name) { ... } defines a test; the program runs all tests in the order of the file.
 * The body has cmocka's `state`. A file whose tests share a fixture defines TEST_SETUP or
 * TEST_TEARDOWN before it includes this file. */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef TEST_SETUP
#define TEST_SETUP NULL
#endif
#ifndef TEST_TEARDOWN
#define TEST_TEARDOWN NULL
#endif

#define TEST(name) TEST_WITH(name, TEST_SETUP, TEST_TEARDOWN)

/* A test with a separate fixture; NULL: none. */
#define TEST_WITH(name, setup, teardown)                                                 \
        static void name(void **state);                                                  \
        __attribute__((constructor)) static void add_##name(void)                        \
        {                                                                                \
                static struct unit_test test = {                                         \
                    .test = {#name, name, setup, teardown, NULL}};                       \
                add_unit_test(&test);                                                    \
        }                                                                                \
        static void name(__attribute__((unused)) void **state)

/* Asserts that a call returns 0 for success. */
#define assert_ok(call) assert_int_equal(call, 0)

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Skips the test, for the reason in FORMAT: something it needs is not here. */
_Noreturn void skip_test(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As printf writes; valid until the fourth call after this one. */
const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes the file PATH anew. */
void write_text(const char *path, const char *text);

/* A number below LIMIT, by chance; the same ones come again from an equal random_state.
 */
uint64_t random_below(uint64_t limit);
extern uint64_t random_state;

struct unit_test {
        struct CMUnitTest test;
        struct unit_test *next;
};

/* Keeps TEST for run_unit_tests. */
void add_unit_test(struct unit_test *test);

/* Runs all tests between SETUP and TEARDOWN of the program, or NULL. Returns how many
 * failed; if none did and one was skipped, 77, which ctest shows as skipped. A file
 * defines main only to call this with a fixture of the program. */
int run_unit_tests(CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
