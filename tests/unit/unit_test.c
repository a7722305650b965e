/* SPDX-License-Identifier: MIT */
/* The list of a program's tests, which constructors fill. */
#include "unit_test.h"

static struct unit_test *first;
static struct unit_test **end = &first;
static size_t count, skipped;

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
        return failed == 0 && skipped > 0 ? 77 : failed;
}

_Noreturn void skip_test(const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        fputs("SKIPPED: ", stderr);
        vfprintf(stderr, format, arguments);
        fputs("\n", stderr);
        va_end(arguments);
        skipped++;
        skip();
        abort(); /* skip() does not return */
}

const char *text_of(const char *format, ...)
{
        static char texts[4][4096];
        static unsigned next;
        char *text = texts[next++ % LENGTH(texts)];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof(texts[0]), format, arguments);
        va_end(arguments);
        return text;
}

void write_text(const char *path, const char *text)
{
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
}

uint64_t random_state = 1;

uint64_t random_below(uint64_t limit)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (random_state >> 33) % limit;
}
