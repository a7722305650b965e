/* SPDX-License-Identifier: MIT */
/* libdw gets only sections that are in memory and safe to read: unpacked, with terminated
 * strings, and with units of acceptable cost. */
#include "dwarf_file.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "die_cost.h"

enum { INFO_STRINGS = 2 };

/* A program's functions do not overlap, and each is decoded once or twice. */
enum { CODE_TIMES = 4, CODE_BYTES_LEAST = 4 << 20 };

static int read_units(struct dwarf_file *file)
{
        Dwarf_Off offset = 0, next;
        size_t header_bytes, capacity = 0;

        while (dwarf_next_unit(file->dwarf, offset, &next, &header_bytes, NULL, NULL,
                               NULL, NULL, NULL, NULL) == 0 &&
               next > offset) {
                if (APPEND(file->units, file->unit_count, capacity,
                           (struct dwarf_unit){.die_offset = offset + header_bytes}) < 0)
                        return -ENOMEM;
                offset = next;
        }

        uint64_t line_bytes = file->lines.size;

        file->budget = UINT64_C(16) * offset + UINT64_C(4) * line_bytes + 65536;
        file->line_budget = DWARF_LINE_RUNS * line_bytes + 65536;
        file->code_budget = CODE_TIMES * file->source->file_bytes + CODE_BYTES_LEAST;
        return 0;
}

static void find_strings(Elf *elf, struct elf_bytes *strings)
{
        strings[0] = elf_section_bytes(elf, ".debug_str");
        strings[1] = elf_section_bytes(elf, ".debug_line_str");
        strings[INFO_STRINGS] = elf_section_bytes(elf, ".debug_info");
        strings[3] = elf_section_bytes(elf, ".debug_types");
}

/* libdw assumes that the last string of a section is terminated. The section is in
 * private memory, where a terminator can be written. */
static void end_strings(struct elf_bytes bytes)
{
        if (bytes.size > 0)
                ((char *)(uintptr_t)bytes.data)[bytes.size - 1] = '\0';
}

/* Opens the DWARF of FILE, unpacked into IMAGE if it is packed. */
static int open_unpacked(const struct elf_file *file, bool with_locations,
                         struct debug_image *image, Dwarf **dwarf,
                         struct elf_bytes *strings)
{
        int error = debug_image_open(image, file, with_locations);

        if (error)
                return error;
        find_strings(image->elf, strings);
        end_strings(strings[0]);
        end_strings(strings[1]);
        *dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
        return *dwarf ? die_check_cost(*dwarf) : -ENOENT;
}

/* Whether units fill all of the section, and each begins with a unit's entry. */
static bool all_units(Dwarf *dwarf, const struct elf_bytes *section)
{
        Dwarf_Off offset = 0, next;
        size_t header_bytes;
        Dwarf_Die die;

        while (dwarf_next_unit(dwarf, offset, &next, &header_bytes, NULL, NULL, NULL,
                               NULL, NULL, NULL) == 0 &&
               next > offset) {
                int tag = dwarf_offdie(dwarf, offset + header_bytes, &die)
                              ? dwarf_tag(&die)
                              : DW_TAG_invalid;

                if (tag != DW_TAG_partial_unit && tag != DW_TAG_compile_unit)
                        return false;
                offset = next;
        }
        return offset == section->size;
}

/* Opens the alternate file ALT. An unreadable file, or one that is too costly to read,
 * counts as missing: the caller sees that in DWARF. */
static int open_alt(struct dwarf_file *dwarf, const struct elf_file *alt,
                    bool with_locations)
{
        int error = open_unpacked(alt, with_locations, &dwarf->alt_image, &dwarf->alt,
                                  dwarf->strings + 4);

        if (error == -ENOMEM ||
            (!error && all_units(dwarf->alt, &dwarf->strings[4 + INFO_STRINGS])))
                return error;
        memset(dwarf->strings + 4, 0, 4 * sizeof(dwarf->strings[0]));
        dwarf_end(dwarf->alt);
        dwarf->alt = NULL;
        return -EINVAL;
}

int dwarf_file_open(struct dwarf_file *dwarf, const struct elf_file *file,
                    const struct elf_file *alt, bool with_locations)
{
        int error;

        *dwarf = (struct dwarf_file){.source = file};
        error = open_unpacked(file, with_locations, &dwarf->image, &dwarf->dwarf,
                              dwarf->strings);
        if (!error && alt)
                error = open_alt(dwarf, alt, with_locations);
        if (error == -ENOMEM || error == -EFBIG || !dwarf->dwarf) {
                dwarf_file_close(dwarf);
                return error;
        }
        if (dwarf->alt)
                dwarf_setalt(dwarf->dwarf, dwarf->alt);
        dwarf->lines = elf_section_bytes(dwarf->image.elf, ".debug_line");
        error = read_units(dwarf);
        if (!error && dwarf->unit_count == 0)
                error = -ENOENT;
        if (error)
                dwarf_file_close(dwarf);
        return error;
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
        for (size_t i = 0; i < dwarf->split_count; i++) {
                split_unit_close(dwarf->splits[i]);
                free(dwarf->splits[i]);
        }
        free(dwarf->splits);
        free(dwarf->bases.addresses);
        free(dwarf->bases.ranges);
        split_types_free(&dwarf->types);
        split_package_close(&dwarf->package);
        dwarf_end(dwarf->dwarf);
        dwarf_end(dwarf->alt);
        debug_image_close(&dwarf->image);
        debug_image_close(&dwarf->alt_image);
        free(dwarf->units);
        *dwarf = (struct dwarf_file){0};
}
