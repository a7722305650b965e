/* SPDX-License-Identifier: MIT */
/* Names of the addresses of one compilation unit. */
#ifndef MEMLAG_SYMBOLIZE_CODE_UNIT_H
#define MEMLAG_SYMBOLIZE_CODE_UNIT_H

#include "code_entry.h"
#include "range_map.h"

struct code_question {
        uint64_t vaddr; /* the place's */
        struct code_place *place;
        uint32_t unit; /* number of its unit in READER->dwarf */
};

/* The destination of ranges of code, with one VALUE for all. */
struct code_ranges {
        const struct elf_file *file;
        struct range_map *map;
        uint32_t value;
};

/* A callback of die_ranges(): adds the range to CONTEXT, a struct code_ranges. It skips
 * functions that the linker dropped: their entries have addresses without code. */
int code_ranges_add(void *context, uint64_t low, uint64_t high);

/* Answers ASKED, COUNT (at least 1) places of a unit, by address. 0 or -ENOMEM. */
int code_unit_find(const struct code_reader *reader, const struct code_question *asked,
                   size_t count);

#endif
