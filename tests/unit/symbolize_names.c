/* SPDX-License-Identifier: MIT */
/* Readable names; mangled examples of the Itanium ABI, Rust RFC 2603 (v0) and rustc. */
#include "file_path.h"
#include "function_names.h"
#include "name.h"
#include "spelling.h"
#include "symbol_names.h"
#include "unit_test.h"

static void expect_name(const char *mangled, const char *readable)
{
        char *name = demangle(mangled);

        if (readable)
                assert_string_equal(name, readable);
        else
                assert_null(name);
        free(name);
}

TEST(cxx_and_rust_names_are_readable)
{
        expect_name("_ZN9wikipedia7article6formatEv", "wikipedia::article::format");
        expect_name("_ZZ4mainvE7counter", "main()::counter");
        expect_name("_Znwm", "operator new");
        expect_name("_ZN3lib5titleB5cxx11E", "lib::title[abi:cxx11]");
        expect_name("_ZN9wikipedia7articleC2Ev", "wikipedia::article::article");
        expect_name("_ZN9wikipedia7articleD1Ev", "wikipedia::article::~article");
        expect_name("_ZNKSt6vectorIiSaIiEE4sizeEv",
                    "std::vector<int, std::allocator<int> >::size");
        expect_name("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
        expect_name("_RINvNtC3std3mem8align_ofjdE", "std::mem::align_of::<usize, f64>");
        expect_name("_RNvMC7mycrateNtB2_4Type6method", "<mycrate::Type>::method");
        /* The hash of the older scheme is no part of the name. */
        expect_name("_ZN3foo3bar17h05af221e174051e9E", "foo::bar");
        expect_name("_ZN4core3fmt9Arguments6new_v117h0a5c7f5b3e2d1c9aE",
                    "core::fmt::Arguments::new_v1");
        expect_name("_ZN48_$LT$my..Type$u20$as$u20$my..Trait$LT$u8$GT$$GT$4call"
                    "17h930b740aa94f1d3aE",
                    "<my::Type as my::Trait<u8>>::call");
}

/* By gfortran 12. */
TEST(fortran_names_are_readable)
{
        expect_name("__state_MOD_fixed", "state::fixed");
        expect_name("__state_MOD___vtab_state_Cell", "state::__vtab_state_Cell");
        expect_name("__state_MOD_sum_cells.constprop.0", "state::sum_cells.constprop.0");
        expect_name("__state_MOD_", NULL);
        expect_name("__state_MOD_Fixed", NULL); /* of C: Fortran's are in lower case */
        expect_name("__POWER_MOD_set", NULL);
        expect_name("__MAX_MOD_SIZE", NULL);
        expect_name("__2_MOD_3", NULL);
        expect_name("___MOD_fixed", NULL);
        expect_name("__libc_start_main", NULL);
        expect_name("__", NULL);
}

static void expect_spelling(const char *name, const char *wanted)
{
        const char *const lambdas[] = {"{lambda at a.cc:3:4}", "{lambda at b.cc:5:6}"};
        char *text = spelling_demangled(name, lambdas);

        assert_string_equal(text, wanted);
        free(text);
}

/* The names are g++ 12's, the wanted ones c++filt's, but for lambdas. */
TEST(names_of_debug_information_are_spelled_as_demangled)
{
        expect_spelling("sum<long int, long unsigned int>", "sum<long, unsigned long>");
        expect_spelling("sum<short unsigned int*>", "sum<unsigned short*>");
        expect_spelling("operator long long int", "operator long long");
        expect_spelling("sum<belong int>", "sum<belong int>");
        expect_spelling("f<main(int, char**)::<lambda(long int)> >",
                        "f<main::{lambda at a.cc:3:4} >");
        expect_spelling("f<nest<int>(int)::<lambda(int)>&, g() const::<lambda()> >",
                        "f<nest<int>::{lambda at a.cc:3:4}&, g::{lambda at b.cc:5:6} >");
        expect_spelling("f<<lambda(", "f<<lambda(");
        expect_spelling("f<g::<lambda()>, <lambda(<lambda()>, <lambda()>",
                        "f<g::{lambda at a.cc:3:4}, <lambda(<lambda()>, <lambda()>");
        expect_spelling(")::<lambda()>", ")::{lambda at a.cc:3:4}");
        assert_int_equal(spelling_lambdas("f<a()::<lambda(b()::<lambda()>)>, int>"), 1);
        assert_int_equal(spelling_lambdas("f<<lambda("), 0);
        assert_int_equal(spelling_lambdas("<lambda(<lambda()>"), 0);
}

TEST(other_names_stay)
{
        static const char *const names[] = {"main", "_start", "_Z", "_ZN", "_R", ""};

        for (size_t i = 0; i < LENGTH(names); i++)
                expect_name(names[i], NULL);
}

/* Each level of the type would be a level of recursion. */
TEST(a_deep_name_does_not_overflow_the_stack)
{
        const size_t depth = 1000000;
        char *name = malloc(depth + 8);

        assert_non_null(name);
        memcpy(name, "_Z1f", 4);
        memset(name + 4, 'P', depth);
        memcpy(name + 4 + depth, "i", 2);
        free(demangle(name));
        free(name);
}

static void expect_path(const char *directory, const char *path, const char *joined)
{
        char *result = path_join(directory, path);

        assert_string_equal(result, joined);
        free(result);
}

TEST(relative_files_are_below_the_compilation_directory)
{
        expect_path("/src/app", "main.c", "/src/app/main.c");
        expect_path("/src/app", "./lib//list.h", "/src/app/lib/list.h");
        expect_path("/src/app/", "../list.h", "/src/app/../list.h");
        expect_path("/src/app", "/usr/include/stdio.h", "/usr/include/stdio.h");
        expect_path("./malloc", "./malloc.c", "malloc/malloc.c");
        expect_path(NULL, "a/./b", "a/b");
        expect_path("/", ".", "/");
        expect_path("", "", "");
        assert_string_equal(path_base("/a/b.c"), "b.c");
        assert_string_equal(path_base("b.c"), "b.c");
}

static void expect_without_parents(const char *path, const char *wanted)
{
        char *result = path_without_parents(path);

        assert_string_equal(result, wanted);
        free(result);
}

TEST(parents_are_taken_out_for_comparisons)
{
        expect_without_parents("/src/app/../lib/list.h", "/src/lib/list.h");
        expect_without_parents("/src/../../list.h", "/list.h");
        expect_without_parents("../../list.h", "../../list.h");
        expect_without_parents("a/../../list.h", "../list.h");
        expect_without_parents("a/b/../..", "");
        expect_without_parents("list.h", "list.h");
        expect_without_parents("/", "/");
        expect_without_parents("", "");
}

/* Functions of one module in, their labels out. */
struct labelled {
        const char *name, *link, *file;
        uint32_t line;
        bool own, shared;
        const char *label;
};

static void expect_labels(const struct labelled *all, size_t count)
{
        struct string_pool *names = string_pool_new();
        struct named_functions functions = {0};
        uint32_t number;

        for (size_t i = 0; i < count; i++)
                assert_ok(named_functions_add(
                    &functions,
                    &(struct named_function){.name = string_pool_put(names, all[i].name),
                                             .link = all[i].link,
                                             .file = string_pool_put(names, all[i].file),
                                             .line = all[i].line,
                                             .own = all[i].own,
                                             .shared = all[i].shared},
                    &number));
        assert_ok(named_functions_tell_apart(&functions, 0, names));
        for (size_t i = 0; i < count; i++)
                assert_string_equal(string_pool_text(names, functions.items[i].label),
                                    all[i].label);
        named_functions_free(&functions);
        string_pool_free(names);
}

TEST(functions_of_one_name_have_their_files_behind_it)
{
        static const struct labelled all[] = {
            {"cmp", NULL, "/src/a.c", 3, true, false, "cmp (a.c)"},
            {"cmp", NULL, "/src/b.c", 3, true, false, "cmp (b.c)"},
            {"one", NULL, "/src/a.c", 9, true, false, "one"},
            {"one", NULL, "/src/a.c", 9, true, false, "one"},
            /* symbols have another one */
            {"lone", NULL, "/src/a.c", 20, true, true, "lone (a.c)"},
            /* files with the same name */
            {"init", NULL, "/src/net/tcp/init.c", 5, true, false,
             "init (net/tcp/init.c)"},
            {"init", NULL, "/src/disk/tcp/init.c", 5, true, false,
             "init (disk/tcp/init.c)"},
            {"init", NULL, "/src/main.c", 5, true, false, "init (main.c)"},
            /* one that all files know */
            {"open", NULL, NULL, 0, false, false, "open"},
            {"open", NULL, "/src/b.c", 7, true, false, "open (b.c)"},
            /* several in one file, as of nested functions */
            {"less", NULL, "/src/c.c", 7, true, false, "less (c.c:7)"},
            {"less", NULL, "/src/c.c", 70, true, false, "less (c.c:70)"},
            /* one header by several paths, and one that symbols name */
            {"swap", NULL, "/src/net/../util.h", 4, false, false, "swap"},
            {"swap", NULL, "/src/util.h", 4, false, false, "swap"},
            {"swap", NULL, "net/util.h", 4, false, false, "swap"},
            {"made", NULL, "made.c", 0, false, false, "made"},
            {"made", NULL, "/src/made.c", 8, true, false, "made"},
            {"none", NULL, "+0x1139", 0, false, true, "none (+0x1139)"},
            {"none", NULL, "+0x1239", 0, false, true, "none (+0x1239)"}};

        expect_labels(all, LENGTH(all));
}

/* One file name ends as another; before the common end is '/', a character or nothing. */
TEST(files_are_told_apart_by_whole_components)
{
        static const struct labelled all[] = {
            {"init", NULL, "b/x.c", 5, true, false, "init (b/x.c)"},
            {"init", NULL, "q.b/x.c", 5, true, false, "init (q.b/x.c)"},
            {"init", NULL, "c/b/x.c", 5, true, false, "init (c/b/x.c)"},
            {"stop", NULL, "/b/x.c", 5, true, false, "stop (/b/x.c)"},
            {"stop", NULL, "/a/b/x.c", 5, true, false, "stop (a/b/x.c)"},
            {"move", NULL, "/a/x.c", 5, true, false, "move (a/x.c)"},
            {"move", NULL, "/ba/x.c", 5, true, false, "move (ba/x.c)"},
        };

        expect_labels(all, LENGTH(all));
}

TEST(overloads_have_their_parameters_behind_the_name)
{
        static const struct labelled all[] = {
            {"sum", "_Z3sumi", NULL, 0, false, false, "sum(int)"},
            {"sum", "_Z3sumd", NULL, 0, false, false, "sum(double)"},
            {"sum", "_Z3sumd.cold", NULL, 0, false, false, "sum(double)"},
            {"row::at", "_ZNK3row2atEm", NULL, 0, false, false,
             "row::at(unsigned long) const"},
            {"row::at", "_ZN3row2atEm", NULL, 0, false, false, "row::at(unsigned long)"},
            {"row::row", "_ZN3rowC1Ev", NULL, 0, false, false, "row::row()"},
            {"row::row", "_ZN3rowC2Ev", NULL, 0, false, false, "row::row()"},
            {"alone", "_Z5alonei", NULL, 0, false, false, "alone"},
            {"hide", "_ZL4hidei", "/src/a.cc", 2, true, false, "hide(int) (a.cc)"},
            {"hide", "_ZL4hidei.isra.0", "/src/b.cc", 2, true, false, "hide(int) (b.cc)"},
            {"hide", "_ZL4hided", "/src/b.cc", 9, true, false, "hide(double)"}};

        expect_labels(all, LENGTH(all));
}

TEST(symbols_tell_of_functions_of_one_name)
{
        struct symbol_names names = {0};
        bool one_file;

        static const char *const symbols[][2] = {
            {"cmp.isra.0", "a.c"}, {"cmp", "b.c"},       {"part", "a.c"},
            {"part.cold", "a.c"},  {"main.init", "a.c"}, {"main.run", "a.c"},
            {"open", NULL},        {"open", "b.c"},      {"init", "b.c"},
            {"init", "b.c"}};

        for (size_t i = 0; i < LENGTH(symbols); i++)
                assert_ok(symbol_names_add(&names, symbols[i][0], i + 1, symbols[i][1],
                                           symbols[i][1] != NULL));
        assert_true(symbol_names_elsewhere(&names, "cmp", "a.c"));
        assert_true(symbol_names_elsewhere(&names, "cmp", "b.c"));
        assert_false(symbol_names_elsewhere(&names, "part", "a.c"));
        assert_true(symbol_names_elsewhere(&names, "open", "b.c"));
        assert_false(symbol_names_elsewhere(&names, "main.run", "a.c"));
        assert_true(symbol_names_several(&names, "cmp", &one_file) && !one_file);
        assert_false(symbol_names_several(&names, "part", &one_file));
        assert_false(symbol_names_several(&names, "main.init", &one_file));
        assert_true(symbol_names_several(&names, "open", &one_file) && !one_file);
        assert_true(symbol_names_several(&names, "init", &one_file) && one_file);
        symbol_names_free(&names);
}

/* Whether ASKED has overloads if the symbols are ASKED and SYMBOL. */
static bool overloaded(const char *asked, const char *symbol)
{
        struct symbol_names names = {0};

        assert_ok(symbol_names_add(&names, asked, 1, NULL, false));
        assert_ok(symbol_names_add(&names, symbol, 2, NULL, false));
        symbol_names_order(&names);
        bool answer = symbol_names_overloaded(&names, asked);

        symbol_names_free(&names);
        return answer;
}

TEST(symbols_tell_of_overloads)
{
        assert_true(overloaded("_Z3sumi", "_Z3sumd"));
        assert_true(overloaded("_Z3sumi", "_ZL3sumd"));
        assert_true(overloaded("_ZNK3row2atEm", "_ZN3row2atEm"));
        assert_true(overloaded("_ZN3rowC1Ev", "_ZN3rowC2Ei"));
        assert_true(overloaded("_ZSt4openi", "_ZSt4openPKc"));
        assert_false(overloaded("_Z3sumi", "_Z3sumi.cold"));
        assert_false(overloaded("_Z3sumi", "_Z4sum2i"));
        assert_false(overloaded("_ZN3rowC1Ev", "_ZN3rowC2Ev"));
        assert_false(overloaded("_ZN3rowC1Ev", "_Z3rowi"));
        assert_false(overloaded("_ZN1a3sumEi", "_ZN1b3sumEd"));
        /* cut off, not of plain names, or not of C++ */
        assert_false(overloaded("_Z9sumi", "_Z9sumd"));
        assert_false(overloaded("_Z99999999999999999999999sumi", "_Z"));
        assert_false(overloaded("_ZN3row", "_ZN3rowC"));
        assert_false(overloaded("_Z3addIiEvT_", "_Z3addIdEvT_"));
        assert_true(overloaded("_Z3addIiEvT_", "_Z3addIiEvT_S0_"));
        assert_false(overloaded("_Z3addIiEvT_", "_Z3addi"));
        assert_true(overloaded("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
                               "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c"));
        assert_true(overloaded("_ZlsRSoRK3row", "_ZlsRSoRK4list"));
        assert_true(overloaded("_ZN3rowixEm", "_ZNK3rowixEm"));
        assert_true(overloaded("_ZN5arrayIiLm4EEixEm", "_ZNK5arrayIiLm4EEixEm"));
        assert_false(overloaded("_ZN5arrayIiLm4EEixEm", "_ZNK5arrayIiLm8EEixEm"));
        assert_true(
            overloaded("_ZZ4mainENKUliE_clIiEEDaT_", "_ZZ4mainENUliE_clIiEEDaT_i"));
        assert_false(overloaded("_ZZ4mainENKUliE_clEi", "_ZZ4mainENKUliE0_clEi"));
        assert_false(overloaded("_ZZ4mainENKUliE_clEi", "_ZZ4openiENKUliE_cvEi"));
        assert_true(
            overloaded("_ZN1a12_GLOBAL__N_13rowD1Ev", "_ZN1a12_GLOBAL__N_13rowD2Ei"));
        assert_true(overloaded("_ZN3rowaSERKS_", "_ZN3rowaSEOS_"));
        assert_true(overloaded("_ZN3rowrSEi", "_ZN3rowrSEl"));
        assert_true(overloaded("_ZN3rowcviEv", "_ZNK3rowcviEv"));
        assert_false(overloaded("_ZN3rowcviEv", "_ZNK3rowcvlEv"));
        assert_true(overloaded("_ZN2opIXadL_Z3runvEEE1mEi", "_ZN2opIXadL_Z3runvEEE1mEv"));
        assert_true(overloaded("_ZN1aL3sumEi", "_ZN1aL3sumEd"));
        assert_true(overloaded("_ZN1a3sumEi", "_ZN1aL3sumEd"));
        assert_true(overloaded("_ZN1aL3sumEi", "_ZN1a3sumEd"));
        assert_false(overloaded("_ZNINININI", "_ZNINININI"));
        assert_false(overloaded("_Znwm", "_ZnwmSt11align_val_t"));
        assert_false(overloaded("main", "open"));
}

/* A function is called the same whether its overloads have samples or not. */
TEST(an_overload_alone_has_its_parameters_too)
{
        struct string_pool *names = string_pool_new();
        struct named_functions functions = {0};
        uint32_t number;

        assert_ok(named_functions_add(
            &functions,
            &(struct named_function){.name = string_pool_put(names, "sum"),
                                     .link = "_Z3sumi",
                                     .overloaded = true},
            &number));
        assert_ok(named_functions_tell_apart(&functions, 0, names));
        assert_string_equal(string_pool_text(names, functions.items[0].label),
                            "sum(int)");
        named_functions_free(&functions);
        string_pool_free(names);
}

TEST(functions_are_told_apart_within_their_module)
{
        struct string_pool *names = string_pool_new();
        struct named_functions functions = {0};
        const struct named_function one = {.name = string_pool_put(names, "init"),
                                           .file = string_pool_put(names, "/src/a.c"),
                                           .line = 3,
                                           .own = true};
        struct named_function other = one;
        uint32_t number;

        other.file = string_pool_put(names, "/src/b.c");
        assert_ok(named_functions_add(&functions, &one, &number));
        assert_ok(named_functions_tell_apart(&functions, 0, names));
        for (int i = 0; i < 1000; i++) /* the table of names grows in between */
                string_pool_format(names, "name %d", i);
        assert_ok(named_functions_add(&functions, &other, &number));
        assert_ok(named_functions_tell_apart(&functions, 1, names));
        assert_ok(named_functions_tell_apart(&functions, 2, names));
        assert_ok(named_functions_add(&functions, &one, &number));
        assert_ok(named_functions_add(&functions, &other, &number));
        assert_ok(named_functions_tell_apart(&functions, 2, names));
        static const char *const labels[] = {"init", "init", "init (a.c)", "init (b.c)"};

        for (size_t i = 0; i < 4; i++)
                assert_string_equal(string_pool_text(names, functions.items[i].label),
                                    labels[i]);
        named_functions_free(&functions);
        string_pool_free(names);
}
