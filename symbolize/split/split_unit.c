/* SPDX-License-Identifier: MIT */
/* The program's part is not trusted either: every offset is compared with its section. */
#include "split_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die_cost.h"

/* ---- files of one unit ---- */

static int open_at(struct elf_file *file, const char *directory, size_t length,
                   const char *name, struct split_package *package)
{
        char *path;

        if (asprintf(&path, "%.*s/%s", (int)length, directory, name) < 0)
                return -ENOMEM;
        int error = split_open_file(package, file, path);

        free(path);
        return error;
}

/* Looks where the file was made, then beside the program. */
static int open_dwo(const struct split_skeleton *skeleton, struct elf_file *file,
                    struct split_package *package)
{
        const char *path = package->program ? package->program : skeleton->path;
        const char *slash = path ? strrchr(path, '/') : NULL, *name = skeleton->name;
        const char *base = strrchr(name, '/');
        int error;

        if (name[0] == '/')
                error = split_open_file(package, file, name);
        else
                error = open_at(file, skeleton->directory ? skeleton->directory : ".",
                                skeleton->directory ? strlen(skeleton->directory) : 1,
                                name, package);
        if (error && error != -ENOMEM && slash)
                error = open_at(file, path, (size_t)(slash - path),
                                base ? base + 1 : name, package);
        return error;
}

/* ---- the unit ---- */

/* A file may contain type units too. */
static bool find_unit(struct split_unit *unit, uint64_t unit_id)
{
        Dwarf_CU *cu = NULL;
        uint8_t type;
        uint64_t id;

        while (dwarf_get_units(unit->dwarf, cu, &cu, NULL, &type, &unit->die, NULL) == 0)
                if (type == DW_UT_split_compile &&
                    dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0 &&
                    id == unit_id)
                        return true;
        return false;
}

/* The section from BASE to END, or to its end when END is 0. */
static struct elf_bytes between(Elf *elf, const char *name, uint64_t base, uint64_t end)
{
        struct elf_bytes rest = split_from(elf_section_bytes(elf, name), base);

        if (end > base && end - base < rest.size)
                rest.size = end - base;
        return rest;
}

/* The unit's addresses. The header before them gives their number (DWARF 5, section
 * 7.27). Before DWARF 5 they end where the next unit's addresses begin. */
static struct elf_bytes addresses(const struct split_skeleton *skeleton)
{
        enum { HEADER_BYTES = 8 };
        struct elf_bytes section = elf_section_bytes(skeleton->elf, ".debug_addr");
        struct elf_bytes header =
            split_slice(section, skeleton->addr_base - HEADER_BYTES, HEADER_BYTES);
        struct elf_bytes rest = between(skeleton->elf, ".debug_addr", skeleton->addr_base,
                                        skeleton->addr_end);
        uint32_t length = header.data ? split_u32(header, 0) : 0;

        if (skeleton->version >= 5 && length >= 4 && length - 4 < rest.size)
                rest.size = length - 4;
        return rest;
}

int split_unit_make(struct split_unit *unit, unsigned version,
                    const struct elf_bytes *parts)
{
        struct elf_image image = {0};
        int error = split_image_make(version, parts, &image);
        const Elf64_Shdr *lists = split_image_part(&image, SPLIT_RNGLISTS);

        unit->image = image.bytes;
        unit->image_bytes = image.size;
        unit->version = version;
        if (lists) {
                unit->lists_at = lists->sh_offset;
                unit->lists_size = lists->sh_size;
        }
        unit->work =
            UINT64_C(16) * (parts[SPLIT_INFO].size + parts[SPLIT_TYPES].size) + 65536;
        if (error)
                return error;
        unit->elf = elf_memory(image.bytes, image.size);
        unit->dwarf = unit->elf ? dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL) : NULL;
        return unit->dwarf ? die_check_cost(unit->dwarf) : -ENOENT;
}

/* Opens the unit with the parts that the program contains. */
static int open_unit(struct split_unit *unit, const struct split_skeleton *skeleton,
                     struct elf_bytes *parts)
{
        parts[SPLIT_ADDR] = addresses(skeleton);
        parts[SPLIT_RANGES] = between(skeleton->elf, ".debug_ranges",
                                      skeleton->ranges_base, skeleton->ranges_end);
        int error = split_unit_make(unit, skeleton->version, parts);

        unit->low_pc = skeleton->low_pc;
        if (error)
                return error;
        return find_unit(unit, skeleton->unit_id) ? 0 : -ENOENT;
}

static int open_dwo_unit(struct split_unit *unit, const struct split_skeleton *skeleton,
                         const struct elf_file *file)
{
        struct elf_bytes parts[SPLIT_PARTS] = {0};
        struct debug_image image;
        int error = debug_image_open(&image, file, true);

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        split_read_parts(image.elf, parts);
        error = open_unit(unit, skeleton, parts);
        debug_image_close(&image);
        return error;
}

int split_unit_open(struct split_unit *unit, const struct split_skeleton *skeleton,
                    struct split_package *package)
{
        struct elf_bytes parts[SPLIT_PARTS] = {0};
        struct elf_file file;
        int error = -ENOENT;

        *unit = (struct split_unit){0};
        if (split_package_open(package, skeleton->path) &&
            split_package_unit(package, skeleton->unit_id, parts))
                error = open_unit(unit, skeleton, parts);
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

/* The offset in list number INDEX's cell (DWARF 5, section 7.28); offsets are from
 * the end of the header. */
static uint64_t numbered_list(const struct split_unit *unit, uint64_t index)
{
        enum { HEADER_BYTES = 12 };
        struct elf_bytes cells =
            split_from((struct elf_bytes){unit->image + unit->lists_at, unit->lists_size},
                       HEADER_BYTES);

        return index < cells.size / 4 ? HEADER_BYTES + (uint64_t)split_u32(cells, index)
                                      : 0;
}

uint64_t split_unit_range_list(const struct split_unit *unit, Dwarf_Attribute *ranges)
{
        Dwarf_Word value;

        if (dwarf_formudata(ranges, &value) != 0)
                return 0;
        if (unit->version < 5)
                return value + SPLIT_RANGES_PADDING;
        return dwarf_whatform(ranges) == DW_FORM_rnglistx ? numbered_list(unit, value)
                                                          : value;
}
