/* SPDX-License-Identifier: MIT */
/* What the tests of readers of DWARF share: the debug information of the test itself. */
#ifndef DWARF_TEST_H
#define DWARF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "die.h"

/* Skips the test where it was built without debug information. */
static void open_own_dwarf(struct elf_file *file, struct dwarf_file *dwarf)
{
        assert_int_equal(elf_file_open(file, "/proc/self/exe"), 0);
        if (dwarf_file_open(dwarf, file, NULL, true) != 0) {
                print_message("SKIPPED: this test was built without -g\n");
                elf_file_close(file);
                skip();
        }
}

#endif
