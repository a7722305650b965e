/* SPDX-License-Identifier: MIT */
/* Three times the split units take three times the memory; missing units are counted. */
#include "die.h"
#include "unit_test.h"

/* Counts the functions named sum, each at a distinct address. */
static size_t count_functions(struct dwarf_file *dwarf)
{
        size_t found = 0;
        Dwarf_Addr low, last = 0;

        for (size_t i = 0; i < dwarf->unit_count; i++) {
                Dwarf_Die unit, entries, child;
                const char *name;

                assert_true(die_open_unit(dwarf, i, &unit, &entries));
                if (dwarf_child(&entries, &child) != 0)
                        continue;
                do {
                        name = die_name(dwarf, &child);
                        if (dwarf_tag(&child) == DW_TAG_subprogram && name &&
                            strcmp(name, "sum") == 0 && dwarf_lowpc(&child, &low) == 0 &&
                            low > last) {
                                last = low;
                                found++;
                        }
                } while (dwarf_siblingof(&child, &child) == 0);
        }
        return found;
}

static uint64_t measure(const char *path, size_t units)
{
        struct elf_file file;
        struct dwarf_file dwarf;

        assert_ok(elf_file_open(&file, path));
        assert_ok(dwarf_file_open(&dwarf, &file, NULL, true));
        assert_int_equal(count_functions(&dwarf), units);
        assert_int_equal(dwarf.split_count, units);
        assert_int_equal(dwarf.splits_missing, 0);

        uint64_t bytes = 0;

        for (size_t i = 0; i < dwarf.split_count; i++)
                bytes += dwarf.splits[i]->image_bytes;
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
        return bytes;
}

TEST(memory_grows_with_the_units)
{
        assert_in_range(measure(SPLIT_300, 300), 1, 3 * measure(SPLIT_100, 100) + 4096);
}

TEST(missing_units_are_counted)
{
        struct elf_file file;
        struct dwarf_file dwarf;

        assert_ok(elf_file_open(&file, SPLIT_GONE));
        assert_ok(dwarf_file_open(&dwarf, &file, NULL, true));
        assert_int_equal(count_functions(&dwarf), 0);
        assert_int_equal(dwarf.splits_missing, 2);
        assert_int_equal(dwarf.splits_too_many, 0);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
}

/* Without memory the other units have no entries. They do not count as missing. */
TEST(units_without_room_are_left_out_and_counted)
{
        struct elf_file file;
        struct dwarf_file dwarf;

        assert_ok(elf_file_open(&file, SPLIT_100));
        assert_ok(dwarf_file_open(&dwarf, &file, NULL, true));
        for (size_t i = 0; i < dwarf.unit_count; i++) {
                Dwarf_Die unit, entries, child;

                if (i == 40)
                        dwarf.split_bytes = UINT64_MAX / 2;
                assert_true(die_open_unit(&dwarf, i, &unit, &entries));
                assert_int_equal(dwarf_child(&entries, &child) == 0, i < 40);
        }
        assert_int_equal(dwarf.split_count, 40);
        assert_int_equal(dwarf.splits_too_many, dwarf.unit_count - 40);
        assert_int_equal(dwarf.splits_missing, 0);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
}

int main(void)
{

        elf_version(EV_CURRENT);
        return run_unit_tests(NULL, NULL);
}
