/* SPDX-License-Identifier: MIT */
/* Nothing in the parts is believed: every offset and size is compared with its section.
 */
#include "split_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Only this unit's strings, in the order of their numbers: a package has those of all
 * units. HEADER_BYTES come before the offsets. */
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
                /* Strings are there once; a larger sum is a trap. */
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
