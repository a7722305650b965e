/* SPDX-License-Identifier: MIT */
/* Type units may not overlap: together they are no larger than their section. */
#include "split_types.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

struct split_type {
        uint64_t signature;
        Dwarf_Die die;
};

struct split_types_row {
        uint64_t together; /* the same for all units compiled together */
        uint32_t row;
        bool opened; /* of the first unit */
};

static void cut(const struct split_types *types, uint32_t row, struct elf_bytes *parts)
{
        memcpy(parts, types->whole, sizeof(types->whole));
        split_index_cut(&types->index, row, parts);
}

static int compare_rows(const void *left, const void *right)
{
        const struct split_types_row *a = left, *b = right;

        if (a->together != b->together)
                return a->together < b->together ? -1 : 1;
        return (a->row > b->row) - (a->row < b->row);
}

/* Units compiled together share a table of abbreviations. */
static uint64_t together(const struct split_types *types, uint32_t row)
{
        struct elf_bytes parts[SPLIT_PARTS];

        cut(types, row, parts);
        return (uintptr_t)parts[SPLIT_ABBREV].data;
}

static int read_rows(struct split_types *types, const struct split_package *package)
{
        uint32_t count;

        types->read = true;
        if (!split_package_types(package, &types->index))
                return 0;
        split_read_parts(package->image.elf, types->whole);
        count = types->index.unit_count;
        types->rows = calloc((size_t)count + 1, sizeof(*types->rows));
        if (!types->rows) {
                types->index.unit_count = 0;
                return -ENOMEM;
        }
        for (uint32_t i = 0; i < count; i++)
                types->rows[i] =
                    (struct split_types_row){together(types, i + 1), i + 1, false};
        SORT(types->rows, count, compare_rows);
        return 0;
}

/* Joins the units compiled together, from FIRST on: PARTS becomes their sum. *JOINED is
 * to be freed. */
static int join(const struct split_types *types, const struct split_types_row *first,
                struct elf_bytes *parts, char **joined)
{
        const struct split_types_row *end = types->rows + types->index.unit_count;
        enum split_part part = types->index.version < 5 ? SPLIT_TYPES : SPLIT_INFO;
        const size_t limit = types->whole[part].size;
        struct elf_bytes unit[SPLIT_PARTS];
        size_t size = 0;

        cut(types, first->row, parts);
        *joined = malloc(limit + 1);
        if (!*joined)
                return -ENOMEM;
        for (const struct split_types_row *at = first;
             at < end && at->together == first->together; at++) {
                cut(types, at->row, unit);
                if (unit[part].size > limit - size)
                        return -ENOENT;
                if (unit[part].size > 0)
                        memcpy(*joined + size, unit[part].data, unit[part].size);
                size += unit[part].size;
        }
        parts[part] = (struct elf_bytes){*joined, size};
        return size > 0 ? 0 : -ENOENT;
}

static const struct split_type *known(const struct split_types *types, uint64_t signature)
{
        uint32_t found = HASH_NUMBER(&types->known, signature);

        return found == HASH_INDEX_NONE ? NULL : &types->known.items[found];
}

static int add(struct split_types *types, uint64_t signature, const Dwarf_Die *die)
{
        if (known(types, signature))
                return 0;
        return HASH_PUSH(&types->known, hash_number(0, signature),
                         (struct split_type){signature, *die});
}

/* Before DWARF 5 type units have a separate section, perhaps the only one. */
static int add_all(struct split_types *types, Dwarf *dwarf)
{
        const bool old = types->index.version < 5;
        Dwarf_Off at = 0, next;
        uint64_t signature;
        size_t header;
        int error = 0;

        for (; !error &&
               dwarf_next_unit(dwarf, at, &next, &header, NULL, NULL, NULL, NULL,
                               old ? &signature : NULL, NULL) == 0 &&
               next > at;
             at = next) {
                Dwarf_Die unit, type;
                uint8_t kind;

                if ((old ? dwarf_offdie_types(dwarf, at + header, &unit)
                         : dwarf_offdie(dwarf, at + header, &unit)) &&
                    !dwarf_cu_info(unit.cu, NULL, &kind, NULL, NULL, NULL, NULL, NULL) &&
                    (kind == DW_UT_type || kind == DW_UT_split_type) &&
                    !dwarf_cu_info(unit.cu, NULL, NULL, NULL, &type, &signature, NULL,
                                   NULL) &&
                    type.addr)
                        error = add(types, signature, &type);
        }
        return error;
}

/* Opens the units from FIRST on. */
static int open_together(struct split_types *types, struct split_types_row *first,
                         struct split_unit **opened)
{
        struct elf_bytes parts[SPLIT_PARTS] = {0};
        struct split_unit *unit = calloc(1, sizeof(*unit));
        char *joined = NULL;
        int error = unit ? join(types, first, parts, &joined) : -ENOMEM;

        first->opened = true;
        if (!error)
                error = split_unit_make(unit, types->index.version, parts);
        free(joined);
        if (error) {
                if (unit)
                        split_unit_close(unit);
                free(unit);
                return error;
        }
        *opened = unit;
        return add_all(types, unit->dwarf);
}

int split_types_find(struct split_types *types, const struct split_package *package,
                     uint64_t signature, Dwarf_Die *die, struct split_unit **opened)
{
        const struct split_type *type = known(types, signature);
        int error = 0;

        *opened = NULL;
        if (!type && !types->read)
                error = read_rows(types, package);
        uint32_t row = type || error ? 0 : split_index_row(&types->index, signature);

        if (row) {
                struct split_types_row *first =
                    types->rows + NUMBER_FROM(types->rows, types->index.unit_count,
                                              together(types, row));

                if (!first->opened)
                        error = open_together(types, first, opened);
                type = known(types, signature);
        }
        if (type)
                *die = type->die;
        return error ? error : type ? 0 : -ENOENT;
}

void split_types_free(struct split_types *types)
{
        free(types->rows);
        HASH_FREE(&types->known);
        *types = (struct split_types){0};
}
