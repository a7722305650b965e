/* SPDX-License-Identifier: MIT */
/* The parts of a split unit, and the file in memory that libdw gets: all bases are at the
 * beginning of each section, where libdw looks for units without a base. Knows nothing
 * about the parts' files. */
#ifndef MEMLAG_SYMBOLIZE_SPLIT_IMAGE_H
#define MEMLAG_SYMBOLIZE_SPLIT_IMAGE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "elf_image.h"

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
/* Number INDEX of the numbers that BYTES begin with; 0 behind them. */
uint32_t split_u32(struct elf_bytes bytes, uint64_t index);
uint64_t split_u64(struct elf_bytes bytes, uint64_t index);

/* Reads the SPLIT_PARTS parts of a .dwo file or a package. */
void split_read_parts(Elf *elf, struct elf_bytes *parts);

/* Makes the file of PARTS, the unit's own, in IMAGE, whose bytes are to be freed also on
 * error. Before DWARF 5 (VERSION) the numbers of strings have no header. 0, -ENOENT or
 * -ENOMEM. */
int split_image_make(unsigned version, const struct elf_bytes *parts,
                     struct elf_image *image);

/* Where PART of IMAGE has its section, or NULL. */
const Elf64_Shdr *split_image_part(const struct elf_image *image, enum split_part part);

#endif
