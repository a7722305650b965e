/* SPDX-License-Identifier: MIT */
/* Patterns as users type them, and the names that c++filt and memlag write. */
#include "function_pattern.h"
#include "unit_test.h"

static void expect_match(const char *pattern, const char *name)
{
        if (!function_pattern_matches(pattern, name))
                fail_msg("'%s' is not '%s'", pattern, name);
}

static void expect_other(const char *pattern, const char *name)
{
        if (function_pattern_matches(pattern, name))
                fail_msg("'%s' is '%s'", pattern, name);
}

TEST(a_plain_name_is_all_functions_of_the_name)
{
        expect_match("sum", "sum");
        expect_match("sum", "sum(int const*)");
        expect_match("sum", "sum<int>(int const*, int)");
        expect_match("sum", "sum<int>");
        expect_match("sum<int>", "sum<int>(int const*, int)");
        expect_match("sum", "sum (a.c:7)");
        expect_match("sum<long>", "sum<long> (src/a.cc)");
        expect_match("size", "size() const");
        expect_match("size", "size() const &");
        expect_match("operator()", "operator()");
        expect_match("operator()", "operator()(int) const");
        expect_match("operator()", "operator()<int>(int) const");
        expect_match("operator<<", "operator<< <char>(std::ostream&, char const*)");
        expect_match("operator->", "operator->() const");
        expect_match("operator[]", "operator[](unsigned long)");
        expect_match("operator<", "operator< <int>(int const&)");
        expect_other("sum", "sum2");
        expect_other("sum", "sum::operator()");
        expect_other("sum<int>", "sum<long>(long const*)");
        expect_other("operator", "operator()");
        expect_other("operator<", "operator<<(int)");
}

TEST(a_plain_name_is_one_in_any_scope)
{
        expect_match("find", "shop::find");
        expect_match("find", "shop::find (a.cc:7)");
        expect_match("cart::total",
                     "shop::(anonymous namespace)::cart::total(int) const");
        expect_match("push_back",
                     "std::vector<int, std::allocator<int> >::push_back(int&&)");
        expect_match("vector::push_back", "std::vector<int>::push_back");
        expect_match("std::vector<...>::push_back", "std::vector<int>::push_back(int&&)");
        expect_match("operator()", "main::{lambda at a.cc:3:4}::operator()");
        expect_match("each", "each<main::{lambda at a.cc:3:4} >");
        expect_other("main", "main::{lambda at a.cc:3:4}::operator()");
        expect_other("find", "find::shop");
        expect_other("int", "std::vector<std::int>::size");
        expect_other("vector", "std::vector<int>::push_back(int&&)");
}

/* As g++ and c++filt write them. */
TEST(tags_of_the_compiler_need_not_be_written)
{
        expect_match("label", "label[abi:cxx11](int)");
        expect_match("shop::label", "shop::label[abi:cxx11]");
        expect_match("label", "shop::label[abi:cxx11]<int>(int) const");
        expect_match("label<int>", "shop::label[abi:cxx11]<int>(int)");
        expect_match("shelf::find", "shelf[abi:v2]::find(int)");
        expect_match("label[abi:cxx11]", "shop::label[abi:cxx11](int)");
        expect_match("label", "label(int) [clone .part.0] [clone .cold]");
        expect_match("label", "label[abi:cxx11](int) [clone .cold]");
        expect_match("label(int) [clone .cold]", "label(int) [clone .cold]");
        expect_match("[kl]abel", "label[abi:cxx11]");
        expect_other("label[abi:cxx11]", "label(int)");
        expect_other("label[abi:cxx11]", "label[abi:v2](int)");
        expect_other("label(int) [clone .cold]", "label(int)");
        expect_other("abel", "label[abi:cxx11]");
        assert_int_equal(function_pattern_distance("lable", "shop::label[abi:cxx11]"), 2);
        assert_int_equal(function_pattern_distance("lable", "label(int) [clone .cold]"),
                         2);
}

TEST(stars_stand_for_any_characters)
{
        expect_match("std::*", "std::vector<int>::push_back(int&&)");
        expect_match("*push_back", "std::vector<int>::push_back(int&&)");
        expect_other("push*", "std::vector<int>::push_back(int&&)");
        expect_match("*", "");
}

TEST(names_may_be_anything)
{
        static const char *const names[] = {
            "",  "(",  ")",   "<",    ">",        "()",    "<>",     "::",
            "a", ">)", ") &", " (x)", "operator", "[abi:", "[abi:]", "(x)y const"};
        const size_t length = 100000;
        char *name = malloc(length + 1);
        for (size_t i = 0; i < LENGTH(names); i++) {
                function_pattern_matches("sum", names[i]);
                function_pattern_distance("sum", names[i]);
        }
        for (size_t i = 0; i < 4; i++) {
                memset(name, "(<:>"[i], length);
                name[length] = '\0';
                expect_other("sum", name);
                assert_int_equal(function_pattern_distance("sum", name), -1);
        }
        free(name);
}

TEST(mistyped_names_are_near)
{
        assert_int_equal(function_pattern_distance("fnd", "shop::find(int)"), 1);
        assert_int_equal(function_pattern_distance("Find", "find (a.c:7)"), 0);
        assert_true(function_pattern_distance("push", "std::vector<int>::push_back") > 0);
        assert_int_equal(function_pattern_distance("walk", "sum"), -1);
        assert_int_equal(function_pattern_distance("", "sum"), -1);
}
