/* SPDX-License-Identifier: MIT */
/* Shared by tests of the DWARF readers: the debug information of the test itself. */
#ifndef DWARF_TEST_H
#define DWARF_TEST_H

#include "die.h"
#include "unit_test.h"

/* Tests that call this are built with -g. */
static void open_own_dwarf(struct elf_file *file, struct dwarf_file *dwarf)
{
        assert_ok(elf_file_open(file, "/proc/self/exe"));
        assert_ok(dwarf_file_open(dwarf, file, NULL, true));
}

#endif
