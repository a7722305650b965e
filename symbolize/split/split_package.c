/* SPDX-License-Identifier: MIT */
/* Nothing in a package is trusted: each range is checked against its section. */
#include "split_package.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DW_SECT_INFO to DW_SECT_RNGLISTS (DWARF 5, section 7.3.5.3) and GNU's before. */
static int part_of_column(const struct split_index *index, uint32_t column)
{
        static const int parts_2[] = {
            -1,         SPLIT_INFO, SPLIT_TYPES,      SPLIT_ABBREV,
            SPLIT_LINE, SPLIT_LOC,  SPLIT_STR_OFFSETS};
        static const int parts_5[] = {-1,
                                      SPLIT_INFO,
                                      -1,
                                      SPLIT_ABBREV,
                                      SPLIT_LINE,
                                      SPLIT_LOCLISTS,
                                      SPLIT_STR_OFFSETS,
                                      -1,
                                      SPLIT_RNGLISTS};

        if (index->version == 2)
                return column < sizeof(parts_2) / sizeof(int) ? parts_2[column] : -1;
        return column < sizeof(parts_5) / sizeof(int) ? parts_5[column] : -1;
}

static bool read_index(struct elf_bytes bytes, struct split_index *index)
{
        index->version = split_u32(bytes, 0) & 0xffff;
        index->column_count = split_u32(bytes, 1);
        index->unit_count = split_u32(bytes, 2);
        index->slot_count = split_u32(bytes, 3);
        uint64_t slots = index->slot_count, columns = index->column_count;
        uint64_t table = index->unit_count * columns * 4;

        /* Each unit has a slot, so the slots' bytes limit both. */
        if ((index->version != 2 && index->version != 5) || columns > 16 ||
            index->unit_count > index->slot_count)
                return false;
        index->signatures = split_slice(bytes, 16, slots * 8);
        index->rows = split_slice(bytes, 16 + slots * 8, slots * 4);
        index->columns = split_slice(bytes, 16 + slots * 12, columns * 4);
        index->offsets = split_slice(bytes, 16 + slots * 12 + columns * 4, table);
        index->sizes = split_slice(bytes, 16 + slots * 12 + columns * 4 + table, table);
        return index->signatures.data && index->rows.data && index->columns.data &&
               index->offsets.data && index->sizes.data;
}

uint32_t split_index_row(const struct split_index *index, uint64_t id)
{
        uint64_t mask = (uint64_t)index->slot_count - 1;
        uint64_t slot = id & mask, step = ((id >> 32) & mask) | 1;

        for (uint32_t tried = 0; tried < index->slot_count; tried++) {
                uint32_t row = split_u32(index->rows, slot);

                if (row == 0 || row > index->unit_count)
                        return 0;
                if (split_u64(index->signatures, slot) == id)
                        return row;
                slot = (slot + step) & mask;
        }
        return 0;
}

void split_index_cut(const struct split_index *index, uint32_t row,
                     struct elf_bytes *parts)
{
        struct elf_bytes whole[SPLIT_PARTS];

        memcpy(whole, parts, sizeof(whole));
        for (int part = 0; part < SPLIT_STR; part++)
                parts[part] = (struct elf_bytes){NULL, 0};
        for (uint32_t i = 0; i < index->column_count; i++) {
                int part = part_of_column(index, split_u32(index->columns, i));
                uint64_t cell = (uint64_t)(row - 1) * index->column_count + i;

                if (part >= 0)
                        parts[part] =
                            split_slice(whole[part], split_u32(index->offsets, cell),
                                        split_u32(index->sizes, cell));
        }
}

bool split_package_unit(const struct split_package *package, uint64_t unit_id,
                        struct elf_bytes *parts)
{
        struct split_index index;

        if (!read_index(elf_section_bytes(package->image.elf, ".debug_cu_index"), &index))
                return false;
        uint32_t row = split_index_row(&index, unit_id);

        if (row == 0)
                return false;
        split_read_parts(package->image.elf, parts);
        split_index_cut(&index, row, parts);
        return true;
}

bool split_package_types(const struct split_package *package, struct split_index *index)
{
        bool there =
            read_index(elf_section_bytes(package->image.elf, ".debug_tu_index"), index);

        if (!there)
                *index = (struct split_index){0};
        return there;
}

int split_open_file(struct split_package *package, struct elf_file *file,
                    const char *path)
{
        int error = looked_for_add(package->looked_for, path);

        return error ? error : elf_file_open(file, path);
}

/* The package of the file whose name is the first LENGTH bytes of PATH. */
static bool open_named(struct split_package *package, const char *path, size_t length)
{
        char *name;

        if (asprintf(&name, "%.*s.dwp", (int)length, path) < 0)
                return false;
        package->there = split_open_file(package, &package->file, name) == 0;
        if (package->there &&
            debug_image_open(&package->image, &package->file, true) != 0) {
                elf_file_close(&package->file);
                package->there = false;
        }
        free(name);
        return package->there;
}

/* A separate debug file's package has its name with or without ".debug". */
static bool open_beside(struct split_package *package, const char *path)
{
        static const char ending[] = ".debug";
        size_t length = path ? strlen(path) : 0, cut = strlen(ending);

        return length > 0 && (open_named(package, path, length) ||
                              (length > cut && strcmp(path + length - cut, ending) == 0 &&
                               open_named(package, path, length - cut)));
}

bool split_package_open(struct split_package *package, const char *path)
{
        if (!package->asked && !open_beside(package, package->program))
                open_beside(package, path);
        package->asked = true;
        return package->there;
}

void split_package_close(struct split_package *package)
{
        if (package->there) {
                debug_image_close(&package->image);
                elf_file_close(&package->file);
        }
        *package = (struct split_package){0};
}

/* ---- the file in memory ---- */

static const char *const part_names[SPLIT_PARTS] = {
    [SPLIT_INFO] = ".debug_info",         [SPLIT_ABBREV] = ".debug_abbrev",
    [SPLIT_LINE] = ".debug_line",         [SPLIT_LOC] = ".debug_loc",
    [SPLIT_LOCLISTS] = ".debug_loclists", [SPLIT_STR_OFFSETS] = ".debug_str_offsets",
    [SPLIT_RNGLISTS] = ".debug_rnglists", [SPLIT_TYPES] = ".debug_types",
    [SPLIT_STR] = ".debug_str",           [SPLIT_ADDR] = ".debug_addr",
    [SPLIT_RANGES] = ".debug_ranges"};

struct elf_bytes split_from(struct elf_bytes bytes, uint64_t offset)
{
        if (offset > bytes.size)
                return (struct elf_bytes){NULL, 0};
        return (struct elf_bytes){bytes.data + offset, bytes.size - offset};
}

struct elf_bytes split_slice(struct elf_bytes bytes, uint64_t offset, uint64_t size)
{
        bytes = split_from(bytes, offset);
        if (size > bytes.size)
                return (struct elf_bytes){NULL, 0};
        bytes.size = size;
        return bytes;
}

uint32_t split_u32(struct elf_bytes bytes, uint64_t index)
{
        uint32_t value = 0;

        if (index < bytes.size / sizeof(value))
                memcpy(&value, bytes.data + index * sizeof(value), sizeof(value));
        return value;
}

uint64_t split_u64(struct elf_bytes bytes, uint64_t index)
{
        uint64_t value = 0;

        if (index < bytes.size / sizeof(value))
                memcpy(&value, bytes.data + index * sizeof(value), sizeof(value));
        return value;
}

void split_read_parts(Elf *elf, struct elf_bytes *parts)
{
        char name[64];

        for (int part = 0; part < SPLIT_ADDR; part++) {
                snprintf(name, sizeof(name), "%s.dwo", part_names[part]);
                parts[part] = elf_section_bytes(elf, name);
        }
}

/* Adds only this unit's strings, in the order of their numbers; a package contains the
 * strings of all units. HEADER_BYTES come before the offsets. */
static int add_strings(struct elf_image *image, struct elf_bytes offsets,
                       struct elf_bytes strings, size_t header_bytes)
{
        struct elf_bytes numbers = split_from(offsets, header_bytes);
        size_t count = numbers.size / 4;
        uint32_t *moved = malloc((count + 1) * sizeof(*moved));
        size_t from_bytes = image->size;
        int error =
            moved ? elf_image_begin_section(image, part_names[SPLIT_STR]) : -ENOMEM;

        if (!error)
                from_bytes = image->size;
        for (size_t i = 0; i < count && !error; i++) {
                struct elf_bytes rest = split_from(strings, split_u32(numbers, i));
                const char *end = rest.data ? memchr(rest.data, 0, rest.size) : NULL;
                size_t length = end ? (size_t)(end - rest.data) + 1 : 1;

                moved[i] = (uint32_t)(image->size - from_bytes);
                /* Each string is there once; a larger sum is a trap. */
                if (image->size - from_bytes + length > strings.size + count)
                        error = -ENOENT;
                else
                        error = elf_image_append(image, end ? rest.data : "", length);
        }
        if (!error) {
                elf_image_end_section(image);
                error = elf_image_begin_section(image, part_names[SPLIT_STR_OFFSETS]);
        }
        if (!error)
                error = elf_image_append(image, offsets.data,
                                         header_bytes < offsets.size ? header_bytes
                                                                     : offsets.size);
        if (!error)
                error = elf_image_append(image, moved, count * sizeof(*moved));
        if (!error)
                elf_image_end_section(image);
        free(moved);
        return error;
}

int split_image_make(unsigned version, const struct elf_bytes *parts,
                     struct elf_image *image)
{
        static const char padding[SPLIT_RANGES_PADDING];
        bool old = version < 5;
        int error = elf_image_begin(image, parts[SPLIT_INFO].size);

        for (int part = 0; part < SPLIT_STR && !error; part++)
                if (part != SPLIT_STR_OFFSETS)
                        error = elf_image_add_section(image, part_names[part],
                                                      parts[part].data, parts[part].size);
        if (!error && parts[SPLIT_STR_OFFSETS].data)
                error = add_strings(image, parts[SPLIT_STR_OFFSETS], parts[SPLIT_STR],
                                    old ? 0 : 8);
        if (!error)
                error =
                    elf_image_add_section(image, part_names[SPLIT_ADDR],
                                          parts[SPLIT_ADDR].data, parts[SPLIT_ADDR].size);
        if (!error && old && parts[SPLIT_RANGES].data) {
                error = elf_image_begin_section(image, part_names[SPLIT_RANGES]);
                if (!error)
                        error = elf_image_append(image, padding, sizeof(padding));
                if (!error)
                        error = elf_image_append(image, parts[SPLIT_RANGES].data,
                                                 parts[SPLIT_RANGES].size);
                elf_image_end_section(image);
        }
        return error ? error : elf_image_end(image);
}

const Elf64_Shdr *split_image_part(const struct elf_image *image, enum split_part part)
{
        return elf_image_section(image, part_names[part]);
}
