/* SPDX-License-Identifier: MIT */
/* An upper bound: libdw reads a table only up to the last abbreviation that is used. */
#include "die_cost.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "byte_cursor.h"
#include "elf_file.h"

enum {
        /* From elfutils 0.188: its record of a unit, with an empty table; and of an
         * abbreviation: 24 bytes, and up to three times 16 bytes in a growing hash
         * table. */
        BYTES_OF_UNIT = 1024,
        BYTES_OF_ABBREVIATION = 80,
        /* For so much of each byte of entries, and so much for any file. */
        TIMES_ENTRIES = 8,
        BYTES_LEAST = 256 << 20,
};

struct counting {
        Dwarf *dwarf;
        struct byte_cursor tables; /* .debug_abbrev */
        uint64_t limit;            /* of all units' tables */
        uint64_t allowed;          /* the same, if the machine had any amount of memory */
        uint64_t units;
        uint64_t bytes;   /* that the tables take */
        uint64_t table;   /* the last one: where it begins */
        uint64_t cost;    /* it takes, */
        bool cut;         /* or more */
        uint64_t refused; /* units */
};

struct unit {
        bool types;      /* in .debug_types */
        uint64_t offset; /* in its section */
        uint64_t bytes;
        uint64_t table; /* where its abbreviations are */
};

/* The memory for a table; once it exceeds MOST, only a part is counted. libdw reads an
 * abbreviation's attributes, but stores none. */
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
                } while ((attribute != 0 || form != 0) && bytes <= most);
                cost += bytes > BYTES_OF_ABBREVIATION ? bytes : BYTES_OF_ABBREVIATION;
        }
        return cost;
}

/* The same for the table at OFFSET. Adjacent units often share one. */
static uint64_t cost_at(struct counting *counting, uint64_t offset, uint64_t most)
{
        struct byte_cursor cursor = counting->tables;

        if (offset == counting->table && (!counting->cut || counting->cost > most))
                return counting->cost;
        cursor_skip(&cursor, offset);
        counting->table = offset;
        counting->cost = table_cost(cursor, most);
        counting->cut = counting->cost > most;
        return counting->cost;
}

/* False ends the walk. */
typedef bool take_unit(struct counting *counting, const struct unit *unit);

/* Iterates over the units of .debug_info, or, with TYPES, the units of .debug_types. */
static bool each_unit_of(struct counting *counting, bool types, take_unit *take)
{
        Dwarf_Off offset = 0, next, table;
        size_t header_bytes;
        uint64_t signature;

        while (dwarf_next_unit(counting->dwarf, offset, &next, &header_bytes, NULL,
                               &table, NULL, NULL, types ? &signature : NULL,
                               NULL) == 0 &&
               next > offset) {
                const struct unit unit = {types, offset, next - offset, table};

                if (!take(counting, &unit))
                        return false;
                offset = next;
        }
        return true;
}

static bool each_unit(struct counting *counting, take_unit *take)
{
        return each_unit_of(counting, false, take) && each_unit_of(counting, true, take);
}

/* ---- whether all is well ---- */

static bool count_unit(struct counting *counting, const struct unit *unit)
{
        (void)unit;
        counting->units++;
        return counting->units <= counting->limit / BYTES_OF_UNIT;
}

static bool count_table(struct counting *counting, const struct unit *unit)
{
        counting->bytes += cost_at(counting, unit->table, counting->limit);
        return counting->bytes <= counting->limit;
}

/* ---- units that take more than their share ---- */

/* A unit's share of the limit: a part by its size, and an equal part for all units.
 * The shares add up to the limit. */
static uint64_t share_of(const struct counting *counting, const struct unit *unit)
{
        uint64_t allowed = TIMES_ENTRIES * unit->bytes + BYTES_LEAST / counting->units;

        return (uint64_t)((double)counting->limit * (double)allowed /
                          (double)counting->allowed);
}

/* Makes UNIT's header (DWARF 5, section 7.5.1) point at the end of the tables: an
 * empty table without abbreviations. */
static void empty_table(const struct counting *counting, const struct unit *unit)
{
        Elf *elf = dwarf_getelf(counting->dwarf);
        size_t size, table_bytes, at = unit->offset + 4, width = 4;
        /* The section is private memory. */
        uint8_t *section = (uint8_t *)(uintptr_t)elf_section_data(
            elf, unit->types ? ".debug_types" : ".debug_info", &size);
        uint64_t end;
        uint32_t length;
        uint16_t version;

        elf_section_data(elf, ".debug_abbrev", &table_bytes);
        end = table_bytes - 1;
        memcpy(&length, section + unit->offset, sizeof(length));
        if (length == UINT32_MAX) {
                at += 8;
                width = 8;
        }
        memcpy(&version, section + at, sizeof(version));
        at += sizeof(version) + (version >= 5 ? 2 : 0);
        memcpy(section + at, &end, width); /* the host's order of bytes, little-endian */
}

static bool refuse_if_beyond(struct counting *counting, const struct unit *unit)
{
        uint64_t share = share_of(counting, unit);

        if (cost_at(counting, unit->table, share) > share) {
                empty_table(counting, unit);
                counting->refused++;
        }
        return true;
}

static bool tables_end(const struct counting *counting)
{
        return counting->tables.end > counting->tables.at &&
               counting->tables.end[-1] == 0;
}

int die_check_cost(Dwarf *dwarf, size_t *refused)
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
        counting.allowed =
            BYTES_LEAST + TIMES_ENTRIES * ((uint64_t)info_bytes + types_bytes);
        counting.limit = counting.allowed;
        if (counting.limit > elf_memory_limit_bytes())
                counting.limit = elf_memory_limit_bytes();
        if (!each_unit(&counting, count_unit))
                return -EFBIG;
        counting.limit -= counting.units * BYTES_OF_UNIT;
        if (each_unit(&counting, count_table))
                return 0;
        if (!refused || !tables_end(&counting))
                return -EFBIG;
        each_unit(&counting, refuse_if_beyond);
        *refused = counting.refused;
        return counting.refused < counting.units ? 0 : -EFBIG;
}
