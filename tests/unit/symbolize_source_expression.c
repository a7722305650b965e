/* SPDX-License-Identifier: MIT */
/* Columns as gcc and clang have them in what they compile, and what stands there. */
#include "source_expression.h"
#include "unit_test.h"

/* What LINE has at the column of the '@' in it, which is taken out; NULL: nothing. */
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

TEST(columns_of_gcc)
{
        assert_string_equal(members("r += d->u.srv@.port * 3;", SOURCE_MEMBERS),
                            ":d>u.srv.port");
        assert_string_equal(members("r += d->u.mx.target@->hash;", SOURCE_MEMBERS),
                            ":d>u.mx.target>hash");
        assert_string_equal(members("r * 3 + d->u.a6.addr@[k];", SOURCE_MEMBERS),
                            ":d>u.a6.addr");
        assert_string_equal(
            members("s += pages[n & 7].u.le[k + 1] @. key;", SOURCE_MEMBERS),
            ":pages.u.le.key");
        assert_string_equal(members("x@->u.a += y->u.b;", SOURCE_MEMBERS), ":x>u");
}

TEST(columns_of_clang)
{
        assert_string_equal(members("r += d->u.srv.@port * 3;", SOURCE_MEMBERS),
                            ":d>u.srv.port");
        assert_string_equal(members("d->u.mx.@target->hash;", SOURCE_MEMBERS),
                            ":d>u.mx.target");
        assert_string_equal(members("r * 3 + @d->u.a6.addr[k];", SOURCE_MEMBERS),
                            ":d>u.a6.addr");
        assert_string_equal(members("@list.head->next(3);", SOURCE_MEMBERS),
                            ":list.head");
}

TEST(casts_have_their_type)
{
        assert_string_equal(members("r = ((struct b *)p)@->y;", SOURCE_MEMBERS), "(b>y");
        assert_string_equal(members("((const struct b *) p->n)->u@.y;", SOURCE_MEMBERS),
                            "(b>u.y");
        assert_string_equal(members("r = (t *)p@->y;", SOURCE_MEMBERS), ":p>y");
        assert_string_equal(members("r = (*p)@.y;", SOURCE_MEMBERS), ".y");
        assert_string_equal(members("r = (t)@->y;", SOURCE_MEMBERS), ">y");
        assert_string_equal(members("r = f(p)@->y;", SOURCE_MEMBERS), ">y");
        assert_string_equal(members("r = ((long)p)@->y;", SOURCE_MEMBERS), ">y");
}

TEST(operators_have_operands)
{
        assert_string_equal(members("if (p->u.le[m].key @< q.k)", SOURCE_MEMBERS),
                            ":p>u.le.key :q.k");
        assert_string_equal(members("if (p->a @== c)", SOURCE_MEMBERS), ":p>a :c");
        assert_string_equal(members("c @+= a.v.cst;", SOURCE_OPERANDS), ":c :a.v.cst");
        assert_string_equal(members("e.x.spells@++;", SOURCE_OPERANDS), ":e.x.spells ");
        assert_string_equal(members("n = x->a @<< 3", SOURCE_OPERANDS), ":x>a ");
}

TEST(others_have_none)
{
        members("@count = 3;", SOURCE_NO_MEMBERS);
        members("x = 1@.5;", SOURCE_NO_MEMBERS);
        members("f@(x->a);", SOURCE_NO_MEMBERS);
        members("x->le@ngth", SOURCE_NO_MEMBERS);
        members("a + @(b)->c", SOURCE_NO_MEMBERS);
        members("return @ptr->i;", SOURCE_NO_MEMBERS);
        members("@", SOURCE_NO_MEMBERS);
        members("@]", SOURCE_NO_MEMBERS);
        members("]@[", SOURCE_NO_MEMBERS);
        members("@.", SOURCE_NO_MEMBERS);
        members("->@", SOURCE_NO_MEMBERS);
        members("a[[[@[", SOURCE_NO_MEMBERS);
        assert_string_equal(members(")]@.b", SOURCE_MEMBERS), ".b");
}

TEST(what_is_too_long_has_none)
{
        char text[8];

        assert_int_equal(source_expression("a.b", 3, 4, text, sizeof(text)),
                         SOURCE_NO_MEMBERS);
        assert_int_equal(source_expression("a.b", 3, SIZE_MAX, text, sizeof(text)),
                         SOURCE_NO_MEMBERS);
        assert_int_equal(source_expression("a.b", 3, 0, text, sizeof(text)),
                         SOURCE_NO_MEMBERS);
        assert_int_equal(source_expression("a.bbbb", 6, 2, text, sizeof(text)),
                         SOURCE_MEMBERS);
        assert_int_equal(source_expression("a.bbbbb", 7, 2, text, sizeof(text)),
                         SOURCE_NO_MEMBERS);
        assert_int_equal(source_expression("a.bbbb == c.d", 13, 8, text, sizeof(text)),
                         SOURCE_NO_MEMBERS);
}
