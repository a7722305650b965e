/* SPDX-License-Identifier: MIT */
/* Fuzz target: a program, and the file that dwz moved the common part of its debug
 * information to. The input is the program's size in 2 bytes, the program and that file.
 * All entries, with their names, ranges and types, are read. */
#include "die_type.h"
#include "die_walk.h"
#include "fuzz_target.h"
#include "input_file.h"

static int ignore_range(void *context, uint64_t low, uint64_t high)
{
        return low > high;
}

static int look(void *context, struct die_entry *entry)
{
        struct type_reader *reader = context;
        const char *name = die_name(reader->dwarf, &entry->die);
        uint32_t type = type_of_variable(reader, &entry->die);
        entry->value = entry->parent + 1;
        type_pointee(reader, type);
        die_ranges(reader->dwarf, &entry->die, ignore_range, NULL);
        return !name || strlen(name) < SIZE_MAX;
}

static void read_all(struct dwarf_file *dwarf)
{
        struct types types = {0};
        struct type_reader reader;
        struct string_pool *names = string_pool_new();
        if (!names)
                return;
        type_reader_open(&reader, dwarf, &types, names);
        for (size_t i = 0; i < dwarf->unit_count; i++) {
                Dwarf_Die unit, entries;

                if (die_open_unit(dwarf, i, &unit, &entries))
                        die_walk(dwarf, &entries, look, &reader);
        }
        type_reader_close(&reader);
        types_free(&types);
        string_pool_free(names);
}

/* BYTES as a file; false when they are no ELF file. */
static bool open_bytes(struct elf_file *elf, const uint8_t *bytes, size_t size)
{
        struct input_file file = input_file(bytes, size);
        bool opened = elf_file_open(elf, file.path) == 0;
        close(file.fd);
        return opened;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct elf_file program, common;
        struct dwarf_file dwarf;
        size_t program_bytes = size < 2 ? 0 : (size_t)bytes[0] | (size_t)bytes[1] << 8;
        if (size < 2 || program_bytes > size - 2 ||
            !open_bytes(&program, bytes + 2, program_bytes))
                return 0;
        bool linked =
            open_bytes(&common, bytes + 2 + program_bytes, size - 2 - program_bytes);

        if (dwarf_file_open(&dwarf, &program, linked ? &common : NULL, true) == 0) {
                read_all(&dwarf);
                dwarf_file_close(&dwarf);
        }
        if (linked)
                elf_file_close(&common);
        elf_file_close(&program);
        return 0;
}
