/* SPDX-License-Identifier: MIT */
/* A package (.dwp) of split units: its indexes, and the parts of each unit. */
#ifndef MEMLAG_SYMBOLIZE_SPLIT_PACKAGE_H
#define MEMLAG_SYMBOLIZE_SPLIT_PACKAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "debug_image.h"
#include "elf_file.h"
#include "elf_image.h"
#include "looked_for.h"

/* The parts of a split unit, and the file in memory that libdw gets. Each section there
 * begins at the unit's base, where libdw looks for units without a base. */
enum split_part {
        SPLIT_INFO,
        SPLIT_ABBREV,
        SPLIT_LINE,
        SPLIT_LOC,
        SPLIT_LOCLISTS,
        SPLIT_STR_OFFSETS,
        SPLIT_RNGLISTS,
        SPLIT_TYPES, /* units of types, before DWARF 5 */
        SPLIT_STR,
        SPLIT_ADDR,   /* from the program */
        SPLIT_RANGES, /* from the program, before DWARF 5 */
        SPLIT_PARTS
};

/* A list of ranges that begins at 0 would mean "the first" to dwarf_ranges(). */
enum { SPLIT_RANGES_PADDING = 16 };

/* SIZE bytes of BYTES from OFFSET on; none if they are not inside. */
struct elf_bytes split_from(struct elf_bytes bytes, uint64_t offset);
struct elf_bytes split_slice(struct elf_bytes bytes, uint64_t offset, uint64_t size);
/* Number INDEX in the array of numbers BYTES; 0 behind its end. */
uint32_t split_u32(struct elf_bytes bytes, uint64_t index);
uint64_t split_u64(struct elf_bytes bytes, uint64_t index);

/* Reads the SPLIT_PARTS parts of a .dwo file or a package. */
void split_read_parts(Elf *elf, struct elf_bytes *parts);

/* Writes the unit's PARTS as an ELF file into IMAGE; the caller frees its bytes, also on
 * error. Before DWARF 5 (VERSION) the numbers of strings have no header. 0, -ENOENT or
 * -ENOMEM. */
int split_image_make(unsigned version, const struct elf_bytes *parts,
                     struct elf_image *image);

/* The section of PART in IMAGE, or NULL. */
const Elf64_Shdr *split_image_part(const struct elf_image *image, enum split_part part);

/* An index of units (DWARF 5, section 7.3.5.3; version 2 is GNU's, for DWARF 4). */
struct split_index {
        struct elf_bytes signatures, rows, columns, offsets, sizes;
        uint32_t version, column_count, unit_count, slot_count;
};

/* The package beside a program, opened at the first question. */
struct split_package {
        const char *program; /* whose debug information may be in another file; or NULL */
        struct elf_file file;
        struct debug_image image;
        bool asked;
        bool there;
        struct looked_for *looked_for; /* notes every file that is tried; or NULL */
};

/* Opens the package beside the program, else beside PATH (or NULL), the separate debug
 * file. Does nothing if that was tried before. Returns whether there is one. */
bool split_package_open(struct split_package *package, const char *path);
void split_package_close(struct split_package *package);

/* The parts of the unit UNIT_ID, which contains code; false: there is no such unit. */
bool split_package_unit(const struct split_package *package, uint64_t unit_id,
                        struct elf_bytes *parts);

/* Reads the index of the units of types; false: there is none. */
bool split_package_types(const struct split_package *package, struct split_index *index);

/* The row, from 1, of the unit with the number or signature ID; 0: none. */
uint32_t split_index_row(const struct split_index *index, uint64_t id);

/* Replaces PARTS, the package's sections, by the parts of the unit in ROW. */
void split_index_cut(const struct split_index *index, uint32_t row,
                     struct elf_bytes *parts);

/* Opens FILE at PATH, and notes in PACKAGE that it was tried. */
int split_open_file(struct split_package *package, struct elf_file *file,
                    const char *path);

#endif
