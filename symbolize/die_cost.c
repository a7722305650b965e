/* SPDX-License-Identifier: MIT */
/* An upper bound: libdw reads a table only up to the last abbreviation that is used. */
#include "die_cost.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>

#include "byte_cursor.h"
#include "elf_file.h"

enum {
        /* Of elfutils 0.188: what it notes of a unit, with an empty table; and of an
         * abbreviation: 24 bytes, and of 16 bytes in a hash table up to three, while
         * it grows. */
        BYTES_OF_UNIT = 1024,
        BYTES_OF_ABBREVIATION = 80,
        /* For so much of each byte of entries, and so much for any file. */
        TIMES_ENTRIES = 8,
        BYTES_LEAST = 256 << 20,
};

struct counting {
        Dwarf *dwarf;
        struct byte_cursor tables; /* .debug_abbrev */
        uint64_t limit;
        uint64_t bytes;
        uint64_t table;         /* where the last unit's begins */
        uint64_t abbreviations; /* in it */
};

static uint64_t count_abbreviations(struct byte_cursor cursor)
{
        uint64_t count = 0;

        while (!cursor.failed && cursor_leb(&cursor) != 0) {
                uint64_t attribute, form;

                cursor_leb(&cursor); /* its tag */
                cursor_byte(&cursor);
                do {
                        attribute = cursor_leb(&cursor);
                        form = cursor_leb(&cursor);
                        if (form == DW_FORM_implicit_const)
                                cursor_leb(&cursor);
                } while (!cursor.failed && (attribute != 0 || form != 0));
                count++;
        }
        return count;
}

/* Counts a unit with the table at OFFSET. False beyond the limit. */
static bool count_unit(struct counting *counting, uint64_t offset)
{
        struct byte_cursor cursor = counting->tables;

        if (offset != counting->table) {
                cursor_skip(&cursor, offset);
                counting->table = offset;
                counting->abbreviations = cursor.failed ? 0 : count_abbreviations(cursor);
        }
        counting->bytes +=
            BYTES_OF_UNIT + BYTES_OF_ABBREVIATION * counting->abbreviations;
        return counting->bytes <= counting->limit;
}

/* Counts the units of .debug_info, or those of TYPES in .debug_types. */
static bool count_units(struct counting *counting, bool types)
{
        Dwarf_Off offset = 0, next, abbreviations;
        size_t header_bytes;
        uint64_t signature;

        while (dwarf_next_unit(counting->dwarf, offset, &next, &header_bytes, NULL,
                               &abbreviations, NULL, NULL, types ? &signature : NULL,
                               NULL) == 0 &&
               next > offset) {
                if (!count_unit(counting, abbreviations))
                        return false;
                offset = next;
        }
        return true;
}

int die_check_cost(Dwarf *dwarf)
{
        Elf *elf = dwarf_getelf(dwarf);
        size_t info_bytes, types_bytes, table_bytes;
        const char *tables = elf_section_data(elf, ".debug_abbrev", &table_bytes);
        struct counting counting = {.dwarf = dwarf, .table = UINT64_MAX};

        elf_section_data(elf, ".debug_info", &info_bytes);
        elf_section_data(elf, ".debug_types", &types_bytes);
        if (tables)
                counting.tables =
                    (struct byte_cursor){.at = (const uint8_t *)tables,
                                         .end = (const uint8_t *)tables + table_bytes};
        counting.limit =
            BYTES_LEAST + TIMES_ENTRIES * ((uint64_t)info_bytes + types_bytes);
        if (counting.limit > elf_memory_limit_bytes())
                counting.limit = elf_memory_limit_bytes();
        return count_units(&counting, false) && count_units(&counting, true) ? 0 : -EFBIG;
}
