/* SPDX-License-Identifier: MIT */
/* The numbers that users may type: the same for all options. */
#include "option_number.h"
#include "unit_test.h"

static struct diag diag;

#define refuse(option, ...) assert_int_equal(option("--n", __VA_ARGS__, &diag), -EINVAL)

static uint64_t whole(const char *text)
{
        uint64_t value = 0;
        assert_ok(option_whole("--n", text, 0, UINT64_MAX, &value, &diag));
        return value;
}

static uint64_t bytes(const char *text)
{
        uint64_t value = 0;
        assert_ok(option_bytes("--n", text, 0, UINT64_MAX, &value, &diag));
        return value;
}

static double number(const char *text)
{
        double value = 0;
        assert_ok(option_number("--n", text, 0, 1e9, &value, &diag));
        return value;
}

TEST(digits_are_decimal)
{
        assert_int_equal(whole("0"), 0);
        assert_int_equal(whole("010"), 10);
        assert_int_equal(whole("18446744073709551615"), UINT64_MAX);
        assert_true(number("0.25") == 0.25);
        assert_true(number(".5") == 0.5);
        assert_true(number("5.") == 5);
        assert_true(number("010") == 10);
}

TEST(bytes_have_units_of_1024)
{
        assert_int_equal(bytes("12"), 12);
        assert_int_equal(bytes("64K"), 65536);
        assert_int_equal(bytes("2M"), 2097152);
        assert_int_equal(bytes("1G"), 1073741824);
        assert_int_equal(bytes("3T"), INT64_C(3298534883328));
        assert_int_equal(bytes("8388607T"), INT64_C(9223370937343148032));
}

/* strtod() and strtoull() accept more than decimal digits, and ignore any rest. */
TEST(nothing_else_is_a_number)
{
        static const char *const texts[] = {
            "",    " ",     "0x10",     "0X1p3", "1e3",
            "1E3", "+5",    "-5",       " 5",    "5 ",
            "5\n", "nan",   "inf",      ".",     "1..2",
            "1,5", "5K ",   "K",        "5KB",   "5k",
            "12Q", "1_000", "\x1b[31m", "٣",     "99999999999999999999T"};
        for (size_t i = 0; i < LENGTH(texts); i++) {
                double value;
                uint64_t whole_value;
                refuse(option_whole, texts[i], 0, UINT64_MAX, &whole_value);
                refuse(option_bytes, texts[i], 0, UINT64_MAX, &whole_value);
                refuse(option_number, texts[i], -1e30, 1e30, &value);
                assert_null(strpbrk(diag.text, "\n\x1b"));
        }
        char long_text[200];
        double value;
        memset(long_text, '1', sizeof(long_text));
        assert_false(number_parse(long_text, sizeof(long_text), &value));
        refuse(option_whole, "1.0", 0, 5, &(uint64_t){0});
        refuse(option_bytes, "8388608T", 0, UINT64_MAX, &(uint64_t){0});
        refuse(option_whole, "18446744073709551616", 0, UINT64_MAX, &(uint64_t){0});
}

TEST(the_message_has_the_limits)
{
        uint64_t value;
        double fraction;
        option_whole("--n", "7", 1, 6, &value, &diag);
        assert_string_equal(diag.text, "--n: '7' is not a whole number from 1 to 6");
        option_whole("--n", "x", 1, INT64_MAX, &value, &diag);
        assert_string_equal(diag.text, "--n: 'x' is not a whole number, 1 or more");
        option_number("--n", "0.001", 0.01, 60, &fraction, &diag);
        assert_string_equal(diag.text, "--n: '0.001' is not a number from 0.01 to 60");
        option_bytes("--n", "1K", 1, 1023, &value, &diag);
        assert_string_equal(diag.text, "--n: '1K' is not from 1 to 1023 bytes");
        assert_ok(option_whole("--n", "6", 1, 6, &value, &diag));
        assert_ok(option_whole("--n", "1", 1, 6, &value, &diag));
        refuse(option_whole, "0", 1, 6, &value);
}
