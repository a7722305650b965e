/* SPDX-License-Identifier: MIT */
/* Words behind a number. */
#include "prose.h"
#include "unit_test.h"

static void check(int64_t count, const char *plural, const char *expected)
{
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        assert_non_null(out);
        prose_counted(out, count, plural);
        fclose(out);
        assert_string_equal(text, expected);
        free(text);
}

TEST(one_is_singular)
{
        check(1, "samples", "1 sample");
        check(1, "processes", "1 process");
        check(1, "addresses", "1 address");
        check(1, "binaries", "1 binary");
        check(1, "entries", "1 entry");
        check(1, "series", "1 series");
        check(1, "", "1 ");
}

TEST(others_are_plural)
{
        check(0, "entries", "0 entries");
        check(2, "series", "2 series");
        check(-1, "samples", "-1 samples");
        check(INT64_MAX, "processes", "9223372036854775807 processes");
}
