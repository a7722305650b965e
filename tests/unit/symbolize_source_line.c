/* SPDX-License-Identifier: MIT */
/* What a whole line names, and when it may read what it does not name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source_line.h"

static const char *members(const char *line)
{
        static char text[256];

        return source_line_members(line, strlen(line), text, sizeof(text)) ? text : NULL;
}

static void lines_have_members(void **state)
{
        (void)state;
        assert_string_equal(members("d += a->x.y * b->z;"), " :a>x :a>x.y :b>z");
        assert_string_equal(members("if (p->x) return ((const struct s *) q)->y;"),
                            " :p>x (s>y");
        assert_string_equal(members("return o[i]->x * (t *)q->y;"), " :o>x :q>y");
        assert_null(members("return x * 1.5;"));
}

static void others_may_be_read(void **state)
{
        (void)state;
        assert_null(members("d += GET(p) + b->z;"));
        assert_null(members("d = *aside + b->z;"));
        assert_null(members("return *aside + b->z;"));
        assert_null(members("d += items[i] + b->z;"));
        assert_non_null(members("d += a->items[i] + b->z;"));
        assert_non_null(members("while (n * b->z) ;"));
}

static void columns_of_members(void **state)
{
        const char *line = "  s = a->x + b . y";
        const char *is = "000000010100000101";

        (void)state;
        for (size_t i = 0; i < strlen(line); i++)
                assert_int_equal(source_line_at_member(line, strlen(line), i + 1),
                                 is[i] == '1');
        assert_false(source_line_at_member(line, strlen(line), 0));
        assert_false(source_line_at_member(line, strlen(line), strlen(line) + 1));
}

static void statements(void **state)
{
        static const char source[] = "{\n a();\n b = c->d\n + e;\n f();\n}";
        char text[64];
        size_t from, to, line = (size_t)(strstr(source, " b = ") - source);

        (void)state;
        source_line_statement(source, strlen(source), line, line + strlen(" b = c->d"),
                              &from, &to);
        assert_true(source_line_names(source + from, to - from, text, sizeof(text)));
        assert_string_equal(text, " b c d e ");
        line = (size_t)(strstr(source, " + e;") - source);
        source_line_statement(source, strlen(source), line, line + strlen(" + e;"), &from,
                              &to);
        assert_true(source_line_names(source + from, to - from, text, sizeof(text)));
        assert_string_equal(text, " b c d e ");
        assert_false(source_line_names(source, strlen(source), text, 8));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(lines_have_members),
            cmocka_unit_test(others_may_be_read),
            cmocka_unit_test(columns_of_members),
            cmocka_unit_test(statements),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
