/* SPDX-License-Identifier: MIT */
/* An upper bound: libdw reads a table only up to the last used abbreviation. */
#include "die_cost.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>

#include "byte_cursor.h"
#include "elf_file.h"

enum {
        /* elfutils 0.188: the record of a unit with an empty table. An abbreviation takes
         * 24 bytes, and up to three times 16 bytes in a growing hash table. */
        BYTES_OF_UNIT = 1024,
        BYTES_OF_ABBREVIATION = 80,
        /* The limit: this for each byte of entries, plus this for any file. */
        TIMES_ENTRIES = 8,
        BYTES_LEAST = 256 << 20,
        /* libdw reads an abbreviation's attributes again for each entry, and an entry may
         * take no byte. Compilers write about twenty attributes. */
        ABBREVIATION_LIMIT = 4096,
};

struct counting {
        Dwarf *dwarf;
        struct byte_cursor tables; /* .debug_abbrev */
        uint64_t limit;            /* of all units and their tables */
        uint64_t bytes;            /* used so far */
        uint64_t table;            /* start of the last one */
        uint64_t cost;             /* of the last one */
};

/* The memory for a table. If it exceeds MOST, only a part is counted. A table with too
 * long an abbreviation counts as more than MOST. libdw stores no attributes. */
static uint64_t table_cost(struct byte_cursor cursor, uint64_t most)
{
        uint64_t cost = 0;

        while (cost <= most && cursor_leb(&cursor) != 0) {
                const uint8_t *start = cursor.at;
                uint64_t attribute, form, bytes;

                cursor_leb(&cursor); /* its tag */
                cursor_byte(&cursor);
                do {
                        attribute = cursor_leb(&cursor);
                        form = cursor_leb(&cursor);
                        if (form == DW_FORM_implicit_const)
                                cursor_leb(&cursor);
                        bytes = (uint64_t)(cursor.at - start);
                } while ((attribute != 0 || form != 0) && bytes <= ABBREVIATION_LIMIT);
                if (bytes > ABBREVIATION_LIMIT)
                        return most + 1;
                cost += bytes > BYTES_OF_ABBREVIATION ? bytes : BYTES_OF_ABBREVIATION;
        }
        return cost;
}

/* A unit and its table at OFFSET. Adjacent units often share one. */
static void count_unit(struct counting *counting, uint64_t offset)
{
        struct byte_cursor cursor = counting->tables;

        if (offset != counting->table) {
                cursor_skip(&cursor, offset);
                counting->table = offset;
                counting->cost = table_cost(cursor, counting->limit);
        }
        counting->bytes += BYTES_OF_UNIT + counting->cost;
}

/* Counts the units of .debug_info, or, with TYPES, the units of .debug_types. */
static int count_units(struct counting *counting, bool types)
{
        Dwarf_Off offset = 0, next, table;
        size_t header_bytes;
        uint64_t signature;

        while (dwarf_next_unit(counting->dwarf, offset, &next, &header_bytes, NULL,
                               &table, NULL, NULL, types ? &signature : NULL,
                               NULL) == 0 &&
               next > offset) {
                count_unit(counting, table);
                if (counting->bytes > counting->limit)
                        return -EFBIG;
                offset = next;
        }
        return 0;
}

int die_check_cost(Dwarf *dwarf)
{
        Elf *elf = dwarf_getelf(dwarf);
        const struct elf_bytes tables = elf_section_bytes(elf, ".debug_abbrev");
        struct counting counting = {.dwarf = dwarf, .table = UINT64_MAX};

        if (tables.data)
                counting.tables = (struct byte_cursor){
                    .at = (const uint8_t *)tables.data,
                    .end = (const uint8_t *)tables.data + tables.size};
        counting.limit =
            BYTES_LEAST +
            TIMES_ENTRIES * ((uint64_t)elf_section_bytes(elf, ".debug_info").size +
                             elf_section_bytes(elf, ".debug_types").size);
        if (counting.limit > elf_memory_limit_bytes())
                counting.limit = elf_memory_limit_bytes();
        int error = count_units(&counting, false);

        return error ? error : count_units(&counting, true);
}
