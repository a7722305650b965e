/* SPDX-License-Identifier: MIT */
/* Names in tables: template arguments are left out from the inside, and nothing else. */
#include "short_name.h"
#include "unit_test.h"

static void assert_short(const char *name, size_t most, const char *expected)
{
        size_t length = strlen(name);
        char *text = short_name(name, &length, most);
        assert_non_null(text);
        assert_int_equal(length, strlen(text));
        assert_string_equal(text, expected);
        free(text);
}

static void assert_unlike(const char *name, const char *other, const char *expected)
{
        size_t length = strlen(name);
        char *text = short_name_unlike(name, &length, other, strlen(other));
        assert_non_null(text);
        assert_int_equal(length, strlen(text));
        assert_string_equal(text, expected);
        free(text);
}

TEST(arguments_that_differ_stay)
{
        assert_unlike(
            "json<std::map, std::vector<byte> >::create<std::vector<value> > at j:3",
            "json<std::map, std::vector<byte> >::create<text, text const&> at j:3",
            "json<...>::create<std::vector<...> > at j:3");
        assert_unlike(
            "json<std::map, std::vector<byte> >::create<std::vector<value> > at j:3",
            "json<std::map, std::vector<byte> >::create<std::vector<other> > at j:3",
            "json<...>::create<std::vector<value> > at j:3");
        assert_unlike("f<first_type>(g<second>)", "f<third_type>(g<second>)",
                      "f<first_type>(g<...>)");
        assert_unlike("f<first_type>::operator<< <wide>",
                      "f<other_type>::operator<< <wide>",
                      "f<first_type>::operator<< <...>");
        assert_unlike("<Name as Trait<Something>>::call<first>",
                      "<Name as Trait<Something>>::call<other>",
                      "<Name as Trait<...>>::call<first>");
        assert_unlike("f<(1 > 2), something>", "f<other>", "f<(1 > 2), something>");
}

TEST(hashes_of_rust_go)
{
        assert_short(
            "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/core/src/mod.rs:7",
            60, "/rustc/.../library/core/src/mod.rs:7");
        assert_short("f</rustc/9fc6b43126469e38/a>, from /rustc/9fc6b43126469e38/b", 20,
                     "f<...>, from /rustc/.../b");
        assert_short("/rustc/library/core and /rustc/9fc6b431", 10,
                     "/rustc/library/core and /rustc/9fc6b431");
}

TEST(names_that_fit_or_do_not_close_stay)
{
        assert_short("std::vector<int, std::allocator<int> >", 38,
                     "std::vector<int, std::allocator<int> >");
        assert_short("", 0, "");
        assert_short("a_function_in_c_with_a_long_name", 8,
                     "a_function_in_c_with_a_long_name");
        assert_short("less<(1 > 2), something>", 1, "less<(1 > 2), something>");
        assert_short("<lambda at a.c:1", 1, "<lambda at a.c:1");
        assert_short("a>b", 1, "a>b");
}

TEST(the_innermost_arguments_go_first)
{
        static const char name[] =
            "std::map<key_type, std::vector<long_name>, std::less<key_type> >::find";
        assert_short(name, 60,
                     "std::map<key_type, std::vector<...>, std::less<...> >::find");
        assert_short(name, 59,
                     "std::map<key_type, std::vector<...>, std::less<...> >::find");
        assert_short(name, 58, "std::map<...>::find");
        assert_short(name, 1, "std::map<...>::find");
        assert_short("f<first>(g<second>)", 1, "f<...>(g<...>)");
}

TEST(what_is_shorter_than_the_mark_stays)
{
        assert_short("pair<int>::swap", 1, "pair<int>::swap");
        assert_short("<T as Trait<Something>>::call", 1, "<T as Trait<...>>::call");
        assert_short("<T as Trait<Some<thing_else>>>::call<argument>", 45,
                     "<T as Trait<Some<...>>>::call<argument>");
        assert_short("<T as Trait<Some<thing_else>>>::call<argument>", 38,
                     "<T as Trait<...>>::call<argument>");
        assert_short("<T as Trait<Some<thing_else>>>::call<argument>", 1,
                     "<T as Trait<...>>::call<...>");
}

TEST(operators_are_no_brackets)
{
        assert_short("operator<< <char_traits>(stream<wide>&)", 1,
                     "operator<< <...>(stream<...>&)");
        assert_short("f<abcdef>::operator<< <abcdefgh>()", 1,
                     "f<...>::operator<< <...>()");
        assert_short("thing<element>::operator->() const", 1,
                     "thing<...>::operator->() const");
        assert_short("operator<=>(thing<element>)", 1, "operator<=>(thing<...>)");
        assert_short("call<decltype (a->b)>::type", 1, "call<...>::type");
}

TEST(bytes_of_zero_stay)
{
        static const char name[] = "f\0<argument>::g\0h";
        size_t length = sizeof(name) - 1;
        char *text = short_name(name, &length, 1);
        assert_non_null(text);
        assert_int_equal(length, sizeof("f\0<...>::g\0h") - 1);
        assert_memory_equal(text, "f\0<...>::g\0h", length);
        free(text);
}

/* In time by the square of the depth this would be hours. */
TEST(a_million_brackets_take_no_time)
{
        enum { DEPTH = 1000000 };
        size_t length = 3 * (size_t)DEPTH;
        char *name = malloc(length + 1);
        assert_non_null(name);
        for (size_t i = 0; i < DEPTH; i++)
                memcpy(name + 2 * i, "a<", 2);
        memset(name + 2 * DEPTH, '>', DEPTH);
        name[length] = '\0';
        assert_short(name, 13, "a<a<a<...>>>");
        assert_short(name, 3, "a<...>");
        free(name);
}
