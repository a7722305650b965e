/* SPDX-License-Identifier: MIT */
/* The list of a program's tests, which constructors fill. */
#include "unit_test.h"

static struct unit_test *first;
static struct unit_test **end = &first;
static size_t count;

void add_unit_test(struct unit_test *test)
{
        *end = test;
        end = &test->next;
        count++;
}

int run_unit_tests(CMFixtureFunction setup, CMFixtureFunction teardown)
{
        struct CMUnitTest *tests = calloc(count, sizeof(*tests));
        if (!tests)
                return 1;
        size_t n = 0;
        for (const struct unit_test *test = first; test; test = test->next)
                tests[n++] = test->test;
        int failed = _cmocka_run_group_tests("tests", tests, count, setup, teardown);
        free(tests);
        return failed;
}
