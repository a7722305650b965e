/* SPDX-License-Identifier: MIT */
/* Readable names and file names. The mangled names are examples of the Itanium C++
 * ABI, of Rust RFC 2603 (v0) and of rustc's legacy scheme. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "path.h"

static void expect_name(const char *mangled, const char *readable)
{
        char *name = demangle(mangled);

        if (readable)
                assert_string_equal(name, readable);
        else
                assert_null(name);
        free(name);
}

static void cxx_and_rust_names_are_readable(void **state)
{
        (void)state;
        expect_name("_ZN9wikipedia7article6formatEv", "wikipedia::article::format");
        expect_name("_ZZ4mainvE7counter", "main()::counter");
        expect_name("_Znwm", "operator new");
        expect_name("_ZN3lib5titleB5cxx11E", "lib::title[abi:cxx11]");
        expect_name("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
        expect_name("_ZN3foo3bar17h05af221e174051e9E", "foo::bar");
}

/* By gfortran 12. */
static void fortran_names_are_readable(void **state)
{
        (void)state;
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

static void other_names_stay(void **state)
{
        (void)state;
        expect_name("main", NULL);
        expect_name("_start", NULL);
        expect_name("_Z", NULL);
        expect_name("_ZN", NULL);
        expect_name("_R", NULL);
        expect_name("", NULL);
}

/* Each level of the type would be a level of recursion. */
static void a_deep_name_does_not_overflow_the_stack(void **state)
{
        (void)state;
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

static void relative_files_are_below_the_compilation_directory(void **state)
{
        (void)state;
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

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(cxx_and_rust_names_are_readable),
            cmocka_unit_test(fortran_names_are_readable),
            cmocka_unit_test(other_names_stay),
            cmocka_unit_test(a_deep_name_does_not_overflow_the_stack),
            cmocka_unit_test(relative_files_are_below_the_compilation_directory),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
