/* SPDX-License-Identifier: MIT */
/* The file in memory has one unit and what belongs to it, cut out so that all bases are
 * where a unit without a base looks: the beginning of each section. Nothing in the files
 * is believed: every offset and size is compared with its section. */
#include "split_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "elf_image.h"

enum part {
        PART_INFO,
        PART_ABBREV,
        PART_LINE,
        PART_LOC,
        PART_LOCLISTS,
        PART_STR_OFFSETS,
        PART_RNGLISTS,
        PART_TYPES, /* units of types, before DWARF 5; not those of a package */
        PART_STR,
        PART_ADDR,   /* from the program */
        PART_RANGES, /* from the program, before DWARF 5 */
        PART_COUNT
};

static const char *const part_names[PART_COUNT] = {
    [PART_INFO] = ".debug_info",         [PART_ABBREV] = ".debug_abbrev",
    [PART_LINE] = ".debug_line",         [PART_LOC] = ".debug_loc",
    [PART_LOCLISTS] = ".debug_loclists", [PART_STR_OFFSETS] = ".debug_str_offsets",
    [PART_RNGLISTS] = ".debug_rnglists", [PART_TYPES] = ".debug_types",
    [PART_STR] = ".debug_str",           [PART_ADDR] = ".debug_addr",
    [PART_RANGES] = ".debug_ranges"};

/* A list of ranges that begins at 0 would mean "the first" to dwarf_ranges(). */
enum { RANGES_PADDING = 16 };

struct bytes {
        const char *data;
        size_t size;
};

static struct bytes section_bytes(Elf *elf, const char *name)
{
        size_t size;
        const char *data = elf_section_data(elf, name, &size);

        return (struct bytes){data, size};
}

static struct bytes from(struct bytes bytes, uint64_t offset)
{
        if (offset > bytes.size)
                return (struct bytes){NULL, 0};
        return (struct bytes){bytes.data + offset, bytes.size - offset};
}

static struct bytes slice(struct bytes bytes, uint64_t offset, uint64_t size)
{
        bytes = from(bytes, offset);
        if (size > bytes.size)
                return (struct bytes){NULL, 0};
        bytes.size = size;
        return bytes;
}

static uint32_t read_u32(struct bytes bytes, uint64_t index)
{
        uint32_t value = 0;

        if (index < bytes.size / sizeof(value))
                memcpy(&value, bytes.data + index * sizeof(value), sizeof(value));
        return value;
}

static uint64_t read_u64(struct bytes bytes, uint64_t index)
{
        uint64_t value = 0;

        if (index < bytes.size / sizeof(value))
                memcpy(&value, bytes.data + index * sizeof(value), sizeof(value));
        return value;
}

static void read_parts(Elf *elf, struct bytes *parts)
{
        char name[64];

        for (int part = 0; part < PART_ADDR; part++) {
                snprintf(name, sizeof(name), "%s.dwo", part_names[part]);
                parts[part] = section_bytes(elf, name);
        }
}

/* ---- packages ---- */

/* The index of units (DWARF 5, section 7.3.5.3; version 2 was GNU's). */
struct index {
        struct bytes signatures, rows, columns, offsets, sizes;
        uint32_t version, column_count, unit_count, slot_count;
};

static bool read_index(struct bytes bytes, struct index *index)
{
        index->version = read_u32(bytes, 0) & 0xffff;
        index->column_count = read_u32(bytes, 1);
        index->unit_count = read_u32(bytes, 2);
        index->slot_count = read_u32(bytes, 3);
        uint64_t slots = index->slot_count, columns = index->column_count;
        uint64_t table = index->unit_count * columns * 4;

        if ((index->version != 2 && index->version != 5) || columns > 16)
                return false;
        index->signatures = slice(bytes, 16, slots * 8);
        index->rows = slice(bytes, 16 + slots * 8, slots * 4);
        index->columns = slice(bytes, 16 + slots * 12, columns * 4);
        index->offsets = slice(bytes, 16 + slots * 12 + columns * 4, table);
        index->sizes = slice(bytes, 16 + slots * 12 + columns * 4 + table, table);
        return index->signatures.data && index->rows.data && index->columns.data &&
               index->offsets.data && index->sizes.data;
}

/* The row of UNIT_ID, counted from 1; 0: it has none. */
static uint32_t find_row(const struct index *index, uint64_t unit_id)
{
        uint64_t mask = (uint64_t)index->slot_count - 1;
        uint64_t slot = unit_id & mask, step = ((unit_id >> 32) & mask) | 1;

        for (uint32_t tried = 0; tried < index->slot_count; tried++) {
                uint32_t row = read_u32(index->rows, slot);

                if (row == 0 || row > index->unit_count)
                        return 0;
                if (read_u64(index->signatures, slot) == unit_id)
                        return row;
                slot = (slot + step) & mask;
        }
        return 0;
}

static int part_of_column(const struct index *index, uint32_t column)
{
        static const int parts_2[] = {
            -1, PART_INFO, -1, PART_ABBREV, PART_LINE, PART_LOC, PART_STR_OFFSETS};
        static const int parts_5[] = {
            -1, PART_INFO,    -1, PART_ABBREV, PART_LINE, PART_LOCLISTS, PART_STR_OFFSETS,
            -1, PART_RNGLISTS};

        if (index->version == 2)
                return column < sizeof(parts_2) / sizeof(int) ? parts_2[column] : -1;
        return column < sizeof(parts_5) / sizeof(int) ? parts_5[column] : -1;
}

/* Cuts the unit's own out of PARTS, the package's sections. */
static bool cut_unit(Elf *package, uint64_t unit_id, struct bytes *parts)
{
        struct index index;
        struct bytes whole[PART_COUNT];
        uint32_t row;

        if (!read_index(section_bytes(package, ".debug_cu_index"), &index) ||
            (row = find_row(&index, unit_id)) == 0)
                return false;
        memcpy(whole, parts, sizeof(whole));
        for (int part = 0; part < PART_STR; part++)
                parts[part] = (struct bytes){NULL, 0};
        for (uint32_t i = 0; i < index.column_count; i++) {
                int part = part_of_column(&index, read_u32(index.columns, i));
                uint64_t cell = (uint64_t)(row - 1) * index.column_count + i;

                if (part >= 0)
                        parts[part] = slice(whole[part], read_u32(index.offsets, cell),
                                            read_u32(index.sizes, cell));
        }
        return true;
}

static int look_at(struct elf_file *file, const char *path, struct split_package *package)
{
        int error = looked_for_add(package->looked_for, path);

        return error ? error : elf_file_open(file, path);
}

static bool open_package(const struct split_skeleton *skeleton,
                         struct split_package *package)
{
        char *path;

        if (package->asked)
                return package->there;
        package->asked = true;
        if (!skeleton->path || asprintf(&path, "%s.dwp", skeleton->path) < 0)
                return false;
        package->there = look_at(&package->file, path, package) == 0;
        if (package->there &&
            debug_image_open(&package->image, &package->file, true) != 0) {
                elf_file_close(&package->file);
                package->there = false;
        }
        free(path);
        return package->there;
}

/* ---- files of one unit ---- */

static int open_at(struct elf_file *file, const char *directory, size_t length,
                   const char *name, struct split_package *package)
{
        char *path;

        if (asprintf(&path, "%.*s/%s", (int)length, directory, name) < 0)
                return -ENOMEM;
        int error = look_at(file, path, package);

        free(path);
        return error;
}

/* Where it was made, then beside the program, where it may have been moved with it. */
static int open_dwo(const struct split_skeleton *skeleton, struct elf_file *file,
                    struct split_package *package)
{
        const char *path = skeleton->path, *name = skeleton->name;
        const char *slash = path ? strrchr(path, '/') : NULL, *base = strrchr(name, '/');
        int error;

        if (name[0] == '/')
                error = look_at(file, name, package);
        else
                error = open_at(file, skeleton->directory ? skeleton->directory : ".",
                                skeleton->directory ? strlen(skeleton->directory) : 1,
                                name, package);
        if (error && error != -ENOMEM && slash)
                error = open_at(file, path, (size_t)(slash - path),
                                base ? base + 1 : name, package);
        return error;
}

/* ---- the file in memory ---- */

/* The strings of the unit alone, in the order of their numbers: a package has those of
 * all units. HEADER_BYTES come before the offsets. */
static int add_strings(struct elf_image *image, struct bytes offsets,
                       struct bytes strings, size_t header_bytes)
{
        struct bytes numbers = from(offsets, header_bytes);
        size_t count = numbers.size / 4;
        uint32_t *moved = malloc((count + 1) * sizeof(*moved));
        size_t from_bytes = image->size;
        int error =
            moved ? elf_image_begin_section(image, part_names[PART_STR]) : -ENOMEM;

        if (!error)
                from_bytes = image->size;
        for (size_t i = 0; i < count && !error; i++) {
                struct bytes rest = from(strings, read_u32(numbers, i));
                const char *end = rest.data ? memchr(rest.data, 0, rest.size) : NULL;
                size_t length = end ? (size_t)(end - rest.data) + 1 : 1;

                moved[i] = (uint32_t)(image->size - from_bytes);
                /* No string is there twice; more than all of them is a trap. */
                if (image->size - from_bytes + length > strings.size + count)
                        error = -ENOENT;
                else
                        error = elf_image_append(image, end ? rest.data : "", length);
        }
        if (!error) {
                elf_image_end_section(image);
                error = elf_image_begin_section(image, part_names[PART_STR_OFFSETS]);
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

static int make_image(const struct split_skeleton *skeleton, const struct bytes *parts,
                      struct elf_image *image)
{
        static const char padding[RANGES_PADDING];
        bool old = skeleton->version < 5;
        int error = elf_image_begin(image, parts[PART_INFO].size);

        for (int part = 0; part < PART_STR && !error; part++)
                if (part != PART_STR_OFFSETS)
                        error = elf_image_add_section(image, part_names[part],
                                                      parts[part].data, parts[part].size);
        if (!error && parts[PART_STR_OFFSETS].data)
                error = add_strings(image, parts[PART_STR_OFFSETS], parts[PART_STR],
                                    old ? 0 : 8);
        if (!error)
                error =
                    elf_image_add_section(image, part_names[PART_ADDR],
                                          parts[PART_ADDR].data, parts[PART_ADDR].size);
        if (!error && old && parts[PART_RANGES].data) {
                error = elf_image_begin_section(image, part_names[PART_RANGES]);
                if (!error)
                        error = elf_image_append(image, padding, sizeof(padding));
                if (!error)
                        error = elf_image_append(image, parts[PART_RANGES].data,
                                                 parts[PART_RANGES].size);
                elf_image_end_section(image);
        }
        return error ? error : elf_image_end(image);
}

/* ---- the unit ---- */

/* A file may hold units of types too. */
static bool find_unit(struct split_unit *unit, uint64_t unit_id)
{
        Dwarf_Off offset = 0, next;
        size_t header_bytes;

        while (dwarf_next_unit(unit->dwarf, offset, &next, &header_bytes, NULL, NULL,
                               NULL, NULL, NULL, NULL) == 0 &&
               next > offset) {
                uint8_t type = 0;
                uint64_t id = 0;

                if (dwarf_offdie(unit->dwarf, offset + header_bytes, &unit->die) &&
                    dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, &id, NULL,
                                  NULL) == 0 &&
                    type == DW_UT_split_compile && id == unit_id)
                        return true;
                offset = next;
        }
        return false;
}

/* The section from BASE to END, or to its own end when that is 0. */
static struct bytes between(Elf *elf, const char *name, uint64_t base, uint64_t end)
{
        struct bytes rest = from(section_bytes(elf, name), base);

        if (end > base && end - base < rest.size)
                rest.size = end - base;
        return rest;
}

/* The unit's addresses: the header before them says how many they are (DWARF 5, section
 * 7.27). Before DWARF 5 only where the next unit's begin does. */
static struct bytes addresses(const struct split_skeleton *skeleton)
{
        enum { HEADER_BYTES = 8 };
        struct bytes section = section_bytes(skeleton->elf, ".debug_addr");
        struct bytes header =
            slice(section, skeleton->addr_base - HEADER_BYTES, HEADER_BYTES);
        struct bytes rest = between(skeleton->elf, ".debug_addr", skeleton->addr_base,
                                    skeleton->addr_end);
        uint32_t length = header.data ? read_u32(header, 0) : 0;

        if (skeleton->version >= 5 && length >= 4 && length - 4 < rest.size)
                rest.size = length - 4;
        return rest;
}

static int open_image(struct split_unit *unit, const struct split_skeleton *skeleton,
                      struct bytes *parts)
{
        struct elf_image image = {0};
        int error;

        parts[PART_ADDR] = addresses(skeleton);
        parts[PART_RANGES] = between(skeleton->elf, ".debug_ranges",
                                     skeleton->ranges_base, skeleton->ranges_end);
        error = make_image(skeleton, parts, &image);
        unit->image = image.bytes;
        unit->image_bytes = image.size;
        unit->low_pc = skeleton->low_pc;
        unit->version = skeleton->version;
        const Elf64_Shdr *lists = elf_image_section(&image, part_names[PART_RNGLISTS]);

        if (lists) {
                unit->lists_at = lists->sh_offset;
                unit->lists_size = lists->sh_size;
        }
        unit->has_files = parts[PART_LINE].data != NULL;
        unit->work = UINT64_C(16) * parts[PART_INFO].size + 65536;
        if (error)
                return error;
        unit->elf = elf_memory(image.bytes, image.size);
        unit->dwarf = unit->elf ? dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL) : NULL;
        return unit->dwarf && find_unit(unit, skeleton->unit_id) ? 0 : -ENOENT;
}

static int open_dwo_unit(struct split_unit *unit, const struct split_skeleton *skeleton,
                         const struct elf_file *file)
{
        struct bytes parts[PART_COUNT] = {0};
        struct debug_image image;
        int error = debug_image_open(&image, file, true);

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        read_parts(image.elf, parts);
        error = open_image(unit, skeleton, parts);
        debug_image_close(&image);
        return error;
}

int split_unit_open(struct split_unit *unit, const struct split_skeleton *skeleton,
                    struct split_package *package)
{
        struct bytes parts[PART_COUNT] = {0};
        struct elf_file file;
        int error = -ENOENT;

        *unit = (struct split_unit){0};
        if (open_package(skeleton, package)) {
                read_parts(package->image.elf, parts);
                if (cut_unit(package->image.elf, skeleton->unit_id, parts))
                        error = open_image(unit, skeleton, parts);
        }
        if (error == -ENOENT && skeleton->name) {
                split_unit_close(unit);
                error = open_dwo(skeleton, &file, package);
                if (error)
                        return error == -ENOMEM ? error : -ENOENT;
                error = open_dwo_unit(unit, skeleton, &file);
                elf_file_close(&file);
        }
        if (error)
                split_unit_close(unit);
        return error;
}

void split_unit_close(struct split_unit *unit)
{
        dwarf_end(unit->dwarf);
        elf_end(unit->elf);
        free(unit->image);
        *unit = (struct split_unit){0};
}

void split_package_close(struct split_package *package)
{
        if (package->there) {
                debug_image_close(&package->image);
                elf_file_close(&package->file);
        }
        *package = (struct split_package){0};
}

/* The offset in list number INDEX's cell (DWARF 5, section 7.28); offsets are from
 * the end of the header. */
static uint64_t numbered_list(const struct split_unit *unit, uint64_t index)
{
        enum { HEADER_BYTES = 12 };
        struct bytes cells = from(
            (struct bytes){unit->image + unit->lists_at, unit->lists_size}, HEADER_BYTES);

        return index < cells.size / 4 ? HEADER_BYTES + (uint64_t)read_u32(cells, index)
                                      : 0;
}

uint64_t split_unit_range_list(const struct split_unit *unit, Dwarf_Attribute *ranges)
{
        Dwarf_Word value;

        if (dwarf_formudata(ranges, &value) != 0)
                return 0;
        if (unit->version < 5)
                return value + RANGES_PADDING;
        return dwarf_whatform(ranges) == DW_FORM_rnglistx ? numbered_list(unit, value)
                                                          : value;
}
