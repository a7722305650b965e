/* SPDX-License-Identifier: MIT */
/* Which lines are the same over a rebuild, of functions edited in known ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diff_match.h"

enum { MOST = 8 };

struct function {
        struct match_line lines[MOST];
};

static size_t count_of(const struct function *function)
{
        size_t count = 0;
        while (count < MOST && function->lines[count].number)
                count++;
        return count;
}

/* PARTNERS: the number after the edit for each line, 0 for none. */
static void expect(struct function before, struct function after, bool same_build,
                   const int64_t *partners)
{
        size_t found[MOST];
        assert_int_equal(match_lines(before.lines, count_of(&before), after.lines,
                                     count_of(&after), same_build, found),
                         0);
        for (size_t i = 0; i < count_of(&before); i++)
                assert_int_equal(found[i] == MATCH_NONE ? 0
                                                        : after.lines[found[i]].number,
                                 partners[i]);
}

#define FUNCTION(...) ((struct function){{__VA_ARGS__}})
#define PARTNERS(...) ((const int64_t[]){__VA_ARGS__})

static void an_unchanged_function(void **state)
{
        (void)state;
        struct function before = FUNCTION({10, 900}, {12, 1}, {14, 1});
        struct function after = FUNCTION({10, 900}, {11, 1}, {13, 1}, {15, 1});
        /* Stray samples do not move lines. */
        expect(before, after, false, PARTNERS(10, 0, 0));
        expect(before, after, true, PARTNERS(10, 0, 0));
}

static void lines_added_above(void **state)
{
        (void)state;
        struct function before = FUNCTION({10, 1000}, {11, 500}, {15, 3});
        struct function after = FUNCTION({11, 1000}, {12, 500}, {16, 2});
        expect(before, after, false, PARTNERS(11, 12, 16));
        /* In one build a number is a line. */
        expect(before, after, true, PARTNERS(0, 11, 0));
}

static void a_line_that_became_cheap_in_its_place(void **state)
{
        (void)state;
        expect(FUNCTION({10, 1000}, {11, 100}), FUNCTION({10, 5}, {11, 120}), false,
               PARTNERS(10, 11));
}

static void lines_added_between(void **state)
{
        (void)state;
        expect(FUNCTION({20, 1000}, {22, 300}), FUNCTION({20, 900}, {23, 300}), false,
               PARTNERS(20, 23));
        /* Stray samples are not moved. */
        expect(FUNCTION({20, 1000}, {22, 300}, {30, 1}),
               FUNCTION({20, 900}, {23, 300}, {31, 1}), false, PARTNERS(20, 23, 0));
}

static void nothing_is_guessed(void **state)
{
        (void)state;
        /* Two distances would do as well. */
        expect(FUNCTION({20, 300}, {25, 300}), FUNCTION({40, 300}), false,
               PARTNERS(0, 0));
        /* Two lines for one. */
        expect(FUNCTION({20, 300}, {30, 300}), FUNCTION({20, 300}, {24, 90}, {27, 90}),
               false, PARTNERS(20, 0));
        /* Code of no line, beside the same with. */
        expect(FUNCTION({-1, 300}, {20, 300}), FUNCTION({-1, 300}, {21, 300}), false,
               PARTNERS(-1, 21));
}

/* As in a damaged file: all lines but the last moved by one. */
static void lines_of_the_largest_numbers(void **state)
{
        (void)state;
        expect(FUNCTION({10, 100}, {20, 100}, {INT64_MAX, 100}),
               FUNCTION({11, 100}, {21, 100}), false, PARTNERS(11, 21, 0));
        expect(FUNCTION({1, 100}, {INT64_MAX, 100}), FUNCTION({1, 100}, {INT64_MAX, 100}),
               false, PARTNERS(1, INT64_MAX));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(an_unchanged_function),
            cmocka_unit_test(lines_added_above),
            cmocka_unit_test(a_line_that_became_cheap_in_its_place),
            cmocka_unit_test(lines_added_between),
            cmocka_unit_test(nothing_is_guessed),
            cmocka_unit_test(lines_of_the_largest_numbers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
