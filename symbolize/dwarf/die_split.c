/* SPDX-License-Identifier: MIT */
/* Before DWARF 5 a unit gives the start of its addresses and ranges, but not their end:
 * the next unit's start. If each unit reached to the section's end, the work would grow
 * with the square of their number. */
#include "die_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

/* Reads the skeleton at DIE of a unit in a separate file; false if it has none. Older
 * units use other attributes. */
static bool read_skeleton(struct dwarf_file *file, Dwarf_Die *die,
                          struct split_skeleton *skeleton)
{
        Dwarf_Half version = 0;
        uint8_t type = 0;
        Dwarf_Addr low_pc;

        *skeleton = (struct split_skeleton){.path = file->source->path,
                                            .elf = dwarf_getelf(file->dwarf)};
        if (dwarf_cu_info(die->cu, &version, &type, NULL, NULL, &skeleton->unit_id, NULL,
                          NULL) != 0 ||
            type != DW_UT_skeleton)
                return false;
        skeleton->version = version;
        skeleton->name = die_string(file, die, DW_AT_dwo_name);
        if (!skeleton->name)
                skeleton->name = die_string(file, die, DW_AT_GNU_dwo_name);
        skeleton->directory = die_string(file, die, DW_AT_comp_dir);
        if (!die_number(file, die, DW_AT_addr_base, &skeleton->addr_base))
                die_number(file, die, DW_AT_GNU_addr_base, &skeleton->addr_base);
        die_number(file, die, DW_AT_GNU_ranges_base, &skeleton->ranges_base);
        if (dwarf_lowpc(die, &low_pc) == 0)
                skeleton->low_pc = low_pc;
        return true;
}

static int read_bases(struct dwarf_file *file)
{
        struct split_bases *bases = &file->bases;
        struct split_skeleton skeleton;
        Dwarf_Die die;

        bases->read = true;
        bases->addresses = calloc(file->unit_count, sizeof(*bases->addresses));
        bases->ranges = calloc(file->unit_count, sizeof(*bases->ranges));
        if (!bases->addresses || !bases->ranges)
                return -ENOMEM;
        for (size_t i = 0; i < file->unit_count; i++) {
                if (!dwarf_offdie(file->dwarf, file->units[i].die_offset, &die) ||
                    !read_skeleton(file, &die, &skeleton))
                        continue;
                bases->addresses[bases->count] = skeleton.addr_base;
                bases->ranges[bases->count++] = skeleton.ranges_base;
        }
        SORT(bases->addresses, bases->count, number_order);
        SORT(bases->ranges, bases->count, number_order);
        return 0;
}

/* The first of COUNT BASES above BASE; 0: there is none. */
static uint64_t next_base(const uint64_t *bases, size_t count, uint64_t base)
{
        size_t next = NUMBER_UNTIL(bases, count, base);

        return next < count ? bases[next] : 0;
}

static int open_within_limit(struct dwarf_file *file, struct split_skeleton *skeleton,
                             struct split_unit *split)
{
        const struct split_bases *bases = &file->bases;

        if (file->split_bytes >= elf_memory_limit_bytes())
                return -EFBIG;
        if (!bases->read && read_bases(file) != 0)
                return -ENOMEM;
        skeleton->addr_end =
            next_base(bases->addresses, bases->count, skeleton->addr_base);
        skeleton->ranges_end =
            next_base(bases->ranges, bases->count, skeleton->ranges_base);
        return split_unit_open(split, skeleton, &file->package);
}

/* From now on FILE owns SPLIT, the rest of its unit NUMBER. The list must have room. */
static void keep(struct dwarf_file *file, struct split_unit *split, size_t number)
{
        split->number = number;
        file->splits[file->split_count++] = split;
        file->split_bytes += split->image_bytes;
        file->budget += split->work;
}

static bool has_room(struct dwarf_file *file)
{
        return array_reserve(&file->splits, &file->split_capacity, file->split_count,
                             sizeof(*file->splits)) == 0;
}

struct split_unit *die_split_open(struct dwarf_file *file, Dwarf_Die *die, size_t number)
{
        struct split_skeleton skeleton;
        struct split_unit *split = NULL;

        if (!read_skeleton(file, die, &skeleton))
                return NULL;
        if (has_room(file))
                split = malloc(sizeof(*split));
        int error = split ? open_within_limit(file, &skeleton, split) : -ENOMEM;

        if (error) {
                file->splits_missing += error == -ENOENT;
                file->splits_too_many += error != -ENOENT;
                free(split);
                return NULL;
        }
        keep(file, split, number);
        return split;
}

bool die_split_type(struct dwarf_file *file, struct elf_bytes section,
                    const Dwarf_Attribute *attribute, Dwarf_Die *type)
{
        const char *at = (const char *)attribute->valp;
        struct split_unit *opened = NULL;
        uint64_t signature;

        if (!file->package.there || file->split_bytes >= elf_memory_limit_bytes() ||
            !section.data || section.size < sizeof(signature) || at < section.data ||
            (size_t)(at - section.data) > section.size - sizeof(signature) ||
            !has_room(file))
                return false;
        memcpy(&signature, at, sizeof(signature));
        int error =
            split_types_find(&file->types, &file->package, signature, type, &opened);

        if (opened)
                keep(file, opened, SIZE_MAX);
        return error == 0;
}
