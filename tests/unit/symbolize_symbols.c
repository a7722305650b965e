/* SPDX-License-Identifier: MIT */
/* Which names symbols give, of code that is written out here with its symbols. */
#include "symbol_table.h"
#include "unit_test.h"

/* Two sections of code, one behind the other, with a symbol at the end of the first. */
__asm__(".pushsection first_part, \"ax\"\n"
        ".type sized, @function\n"
        "sized: nop\n ret\n"
        ".size sized, 2\n"
        "unsized: nop\n ret\n"
        "end_of_first:\n"
        ".popsection\n"
        ".pushsection second_part, \"ax\"\n"
        "begin_of_second = . + 2\n"
        "nop\n ret\n"
        "nop\n ret\n"
        ".popsection\n"
        /* As Go's linker does with C objects. */
        ".pushsection third_part, \"ax\"\n"
        ".type \"runtime/cgo(.text)\", @function\n"
        "\"runtime/cgo(.text)\":\n"
        ".type x_cgo_mmap, @function\n"
        "x_cgo_mmap: nop\n ret\n"
        ".size x_cgo_mmap, 2\n"
        "nop\n ret\n"
        ".size \"runtime/cgo(.text)\", 4\n"
        ".popsection");

/* From the linker. */
extern const char __start_first_part[], __start_second_part[];

static const char *name_at(const struct symbol_table *table, uint64_t vaddr)
{
        const struct symbol *symbol = symbol_table_function(table, vaddr);

        return symbol ? symbol->name : "";
}

/* The symbol NAME; that code has it. */
static const struct symbol *symbol_named(const struct symbol_table *table,
                                         const char *name)
{
        for (size_t i = 0; i < table->count; i++)
                if (strcmp(table->symbols[i].name, name) == 0)
                        return &table->symbols[i];
        return NULL;
}

TEST(an_end_names_nothing_behind_it)
{
        struct elf_file file;
        struct symbol_table table;

        assert_ptr_equal(__start_second_part, __start_first_part + 4);
        assert_ok(elf_file_open(&file, "/proc/self/exe"));
        assert_ok(symbol_table_read(&table, &file, NULL));
        const struct symbol *sized = symbol_named(&table, "sized");

        assert_non_null(sized);
        uint64_t vaddr = sized->vaddr;

        for (uint64_t at = 0; at < 2; at++) {
                assert_string_equal(name_at(&table, vaddr + at), "sized");
                assert_string_equal(name_at(&table, vaddr + 2 + at), "unsized");
                assert_string_not_equal(name_at(&table, vaddr + 4 + at), "end_of_first");
                assert_string_equal(name_at(&table, vaddr + 6 + at), "begin_of_second");
        }
        symbol_table_free(&table);
        elf_file_close(&file);
}

TEST(a_section_is_no_function)
{
        struct elf_file file;
        struct symbol_table table;

        assert_ok(elf_file_open(&file, "/proc/self/exe"));
        assert_ok(symbol_table_read(&table, &file, NULL));
        const struct symbol *inside = symbol_named(&table, "x_cgo_mmap");

        assert_non_null(inside);
        assert_string_equal(name_at(&table, inside->vaddr + 1), "x_cgo_mmap");
        assert_null(symbol_named(&table, "runtime/cgo(.text)"));
        symbol_table_free(&table);
        elf_file_close(&file);
}
