/* SPDX-License-Identifier: MIT */
/* Which lines are the same after a rebuild, in functions with known edits. */
#include "diff_match.h"
#include "unit_test.h"

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

enum { FUNCTIONS_MOST = 3 };

/* Functions of one file, and for each line before the number after, 0 for none. */
struct edit {
        struct function before, after;
        int64_t partners[MOST];
};

static void expect_file(const struct edit *edits, size_t count)
{
        struct match_function functions[FUNCTIONS_MOST];
        size_t found[FUNCTIONS_MOST][MOST];
        for (size_t f = 0; f < count; f++)
                functions[f] =
                    (struct match_function){.before = edits[f].before.lines,
                                            .after = edits[f].after.lines,
                                            .before_count = count_of(&edits[f].before),
                                            .after_count = count_of(&edits[f].after),
                                            .partners = found[f]};
        assert_int_equal(match_lines(functions, count), 0);
        for (size_t f = 0; f < count; f++)
                for (size_t i = 0; i < functions[f].before_count; i++)
                        assert_int_equal(found[f][i] == MATCH_NONE
                                             ? 0
                                             : edits[f].after.lines[found[f][i]].number,
                                         edits[f].partners[i]);
}

/* PARTNERS: the number after the edit for each line, 0 for none. */
static void expect(struct function before, struct function after, bool same_build,
                   const int64_t *partners)
{
        size_t found[MOST];
        const struct match_function function = {before.lines,      after.lines,
                                                count_of(&before), count_of(&after),
                                                same_build,        found};
        assert_int_equal(match_lines(&function, 1), 0);
        for (size_t i = 0; i < count_of(&before); i++)
                assert_int_equal(found[i] == MATCH_NONE ? 0
                                                        : after.lines[found[i]].number,
                                 partners[i]);
}

#define FUNCTION(...) ((struct function){{__VA_ARGS__}})
#define PARTNERS(...) ((const int64_t[]){__VA_ARGS__})

TEST(an_unchanged_function)
{
        struct function before = FUNCTION({10, 900}, {12, 1}, {14, 1});
        struct function after = FUNCTION({10, 900}, {11, 1}, {13, 1}, {15, 1});
        /* Stray samples do not move lines. */
        expect(before, after, false, PARTNERS(10, 0, 0));
        expect(before, after, true, PARTNERS(10, 0, 0));
}

TEST(lines_added_above)
{
        struct function before = FUNCTION({10, 1000}, {11, 500}, {15, 3});
        struct function after = FUNCTION({11, 1000}, {12, 500}, {16, 2});
        expect(before, after, false, PARTNERS(11, 12, 16));
        /* In one build a number is a line. */
        expect(before, after, true, PARTNERS(0, 11, 0));
}

TEST(lines_added_between_or_made_cheap)
{
        expect(FUNCTION({10, 1000}, {11, 100}), FUNCTION({10, 5}, {11, 120}), false,
               PARTNERS(10, 11));
        expect(FUNCTION({20, 1000}, {22, 300}), FUNCTION({20, 900}, {23, 300}), false,
               PARTNERS(20, 23));
        /* A line with few samples moves as the line above it. */
        expect(FUNCTION({20, 1000}, {22, 300}, {30, 1}),
               FUNCTION({20, 900}, {23, 300}, {31, 1}), false, PARTNERS(20, 23, 31));
        /* It stays in place above the added text. */
        expect(FUNCTION({37, 3}, {39, 4}, {49, 81}, {60, 98}),
               FUNCTION({37, 1}, {39, 2}, {51, 71}, {62, 90}), false,
               PARTNERS(37, 39, 51, 62));
}

TEST(nothing_is_guessed)
{
        /* Two distances would do as well. */
        expect(FUNCTION({20, 300}, {25, 300}), FUNCTION({40, 300}), false,
               PARTNERS(0, 0));
        /* Two lines for one. */
        expect(FUNCTION({20, 300}, {30, 300}), FUNCTION({20, 300}, {24, 90}, {27, 90}),
               false, PARTNERS(20, 0));
        /* Code without a line number, beside code with one. */
        expect(FUNCTION({-1, 300}, {20, 300}), FUNCTION({-1, 300}, {21, 300}), false,
               PARTNERS(-1, 21));
}

/* As in a damaged file: all lines but the last moved by one. */
TEST(lines_of_damaged_numbers)
{
        expect(FUNCTION({10, 100}, {20, 100}, {INT64_MAX, 100}),
               FUNCTION({11, 100}, {21, 100}), false, PARTNERS(11, 21, 0));
        expect(FUNCTION({1, 100}, {INT64_MAX, 100}), FUNCTION({1, 100}, {INT64_MAX, 100}),
               false, PARTNERS(1, INT64_MAX));
        expect(FUNCTION({INT64_MIN, 50}, {20, 300}, {INT64_MAX, INT64_MAX}),
               FUNCTION({INT64_MIN, 50}, {30, 300}, {INT64_MAX, INT64_MAX}), false,
               PARTNERS(INT64_MIN, 30, INT64_MAX));
        expect(FUNCTION({20, 300}, {INT64_MAX - 1, 50}),
               FUNCTION({10, 300}, {INT64_MAX, 50}), false, PARTNERS(10, 0));
}

/* Every sampled line of a function moved down by one; samples are almost as many. */
TEST(lines_whose_numbers_are_those_of_others)
{
        expect(FUNCTION({45, 1912}, {46, 1077}, {47, 3}, {48, 3}),
               FUNCTION({46, 1910}, {47, 1070}, {48, 2}), false, PARTNERS(46, 47, 48, 0));
        expect(FUNCTION({26, 6}, {27, 143}, {28, 108}, {32, 1}),
               FUNCTION({27, 5}, {28, 133}, {29, 127}), false, PARTNERS(27, 28, 29, 0));
        /* Three lines: the middle one is matched although it became cheap. */
        expect(FUNCTION({45, 1000}, {46, 900}, {47, 300}),
               FUNCTION({46, 1010}, {47, 25}, {48, 310}), false, PARTNERS(46, 47, 48));
        /* Nothing was added: stray samples beside the line do not move it. */
        expect(FUNCTION({22, 14}, {26, 1}, {27, 26}, {32, 3}),
               FUNCTION({22, 14}, {27, 27}, {28, 2}, {32, 2}), false,
               PARTNERS(22, 0, 27, 32));
}

TEST(functions_with_few_samples_move_as_their_file)
{
        /* A line was added at the beginning of the file. */
        const struct edit above[] = {
            {FUNCTION({22, 5}, {27, 11}), FUNCTION({23, 5}, {28, 2}), {23, 28}},
            {FUNCTION({45, 18}, {46, 173}), FUNCTION({46, 24}, {47, 177}), {46, 47}},
            {FUNCTION({75, 2}, {76, 1}), FUNCTION({76, 3}), {76, 0}},
        };
        expect_file(above, 3);
        /* Four in the second function, which is listed last. */
        const struct edit inside[] = {
            {FUNCTION({75, 2}), FUNCTION({79, 3}), {79}},
            {FUNCTION({22, 5}, {27, 4}), FUNCTION({22, 5}, {27, 2}), {22, 27}},
            {FUNCTION({45, 900}, {46, 173}), FUNCTION({49, 950}, {50, 170}), {49, 50}},
        };
        expect_file(inside, 3);
        /* Only the function above shows which of the two lines is the same. */
        const struct edit told[] = {
            {FUNCTION({10, 300}, {12, 40}), FUNCTION({15, 300}, {17, 45}), {15, 17}},
            {FUNCTION({30, 300}, {35, 300}), FUNCTION({35, 140}, {40, 300}), {35, 40}},
            {FUNCTION({50, 300}, {55, 300}), FUNCTION({60, 300}), {0, 60}},
        };
        expect_file(told, 3);
        const struct edit untold[] = {
            {FUNCTION({50, 300}, {55, 300}), FUNCTION({60, 300}), {0, 0}},
        };
        expect_file(untold, 1);
}

/* A function of many lines is unmoved, a small one below it moved: neither outvotes the
 * other. */
TEST(a_function_of_many_lines_leaves_others_their_distance)
{
        enum { MANY = 200, MOVED = 150 };
        struct match_line many[MANY], before[MOST], after[MOST];
        size_t found[2][MANY];
        const struct match_function functions[] = {
            {many, many, MANY, MANY, false, found[0]},
            {before, after, MOST, MOST, false, found[1]}};
        for (int i = 0; i < MANY; i++)
                many[i] = (struct match_line){100 + i, 5 + i % 9};
        for (int i = 0; i < MOST; i++) {
                before[i] = (struct match_line){1000 + 7 * i, 5 + 4 * i};
                after[i] = (struct match_line){1000 + 7 * i + MOVED, 5 + 4 * i};
        }
        assert_int_equal(match_lines(functions, 2), 0);
        for (size_t i = 0; i < MANY; i++)
                assert_int_equal(found[0][i], i);
        for (size_t i = 0; i < MOST; i++)
                assert_int_equal(found[1][i], i);
}
