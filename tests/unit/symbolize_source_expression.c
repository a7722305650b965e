/* SPDX-License-Identifier: MIT */
/* Columns as gcc and clang write them, and the expression at each column. */
#include "source_expression.h"
#include "unit_test.h"

/* The members that LINE has at the column of its '@', which is removed; NULL: none. */
static const char *members(const char *line, enum source_expression wanted)
{
        static char text[64];
        char whole[256];
        const char *mark = strchr(line, '@');
        size_t column = (size_t)(mark - line) + 1;

        assert_true(strlen(line) < sizeof(whole));
        memcpy(whole, line, column - 1);
        memcpy(whole + column - 1, mark + 1, strlen(mark + 1));
        assert_int_equal(
            source_expression(whole, strlen(line) - 1, column, text, sizeof(text)),
            wanted);
        return wanted == SOURCE_NO_MEMBERS ? NULL : text;
}

static void has(const char *line, const char *expected)
{
        assert_string_equal(members(line, SOURCE_MEMBERS), expected);
}

TEST(columns_of_gcc)
{
        has("r += d->u.srv@.port * 3;", ":d>u.srv.port");
        has("r += d->u.mx.target@->hash;", ":d>u.mx.target>hash");
        has("r * 3 + d->u.a6.addr@[k];", ":d>u.a6.addr");
        has("s += pages[n & 7].u.le[k + 1] @. key;", ":pages.u.le.key");
        has("x@->u.a += y->u.b;", ":x>u");
}

TEST(columns_of_clang)
{
        has("r += d->u.srv.@port * 3;", ":d>u.srv.port");
        has("d->u.mx.@target->hash;", ":d>u.mx.target");
        has("r * 3 + @d->u.a6.addr[k];", ":d>u.a6.addr");
        has("@list.head->next(3);", ":list.head");
}

TEST(casts_have_their_type)
{
        has("r = ((struct b *)p)@->y;", "(b>y");
        has("((const struct b *) p->n)->u@.y;", "(b>u.y");
        has("r = (t *)p@->y;", ":p>y");
        has("r = (*p)@.y;", ".y");
        has("r = (t)@->y;", ">y");
        has("r = f(p)@->y;", ">y");
        has("r = ((long)p)@->y;", ">y");
}

TEST(operators_have_operands)
{
        has("if (p->u.le[m].key @< q.k)", ":p>u.le.key :q.k");
        has("if (p->a @== c)", ":p>a :c");
        assert_string_equal(members("c @+= a.v.cst;", SOURCE_OPERANDS), ":c :a.v.cst");
        assert_string_equal(members("e.x.spells@++;", SOURCE_OPERANDS), ":e.x.spells ");
        assert_string_equal(members("n = x->a @<< 3", SOURCE_OPERANDS), ":x>a ");
}

TEST(others_have_none)
{
        static const char *const lines[] = {
            "@count = 3;", "x = 1@.5;",   "f@(x->a);",
            "x->le@ngth",  "a + @(b)->c", "return @ptr->i;",
            "@",           "@]",          "]@[",
            "@.",          "->@",         "a[[[@["};

        for (size_t i = 0; i < LENGTH(lines); i++)
                members(lines[i], SOURCE_NO_MEMBERS);
        has(")]@.b", ".b");
}

TEST(what_is_too_long_has_none)
{
        static const struct {
                const char *line;
                size_t column;
                enum source_expression found;
        } cases[] = {
            {"a.b", 4, SOURCE_NO_MEMBERS},     {"a.b", SIZE_MAX, SOURCE_NO_MEMBERS},
            {"a.b", 0, SOURCE_NO_MEMBERS},     {"a.bbbb", 2, SOURCE_MEMBERS},
            {"a.bbbbb", 2, SOURCE_NO_MEMBERS}, {"a.bbbb == c.d", 8, SOURCE_NO_MEMBERS}};

        for (size_t i = 0; i < LENGTH(cases); i++) {
                char text[8];

                assert_int_equal(source_expression(cases[i].line, strlen(cases[i].line),
                                                   cases[i].column, text, sizeof(text)),
                                 cases[i].found);
        }
}
