/* SPDX-License-Identifier: MIT */
/* Names of the addresses of one compilation unit. */
#ifndef MEMLAG_SYMBOLIZE_CODE_UNIT_H
#define MEMLAG_SYMBOLIZE_CODE_UNIT_H

#include "code_entry.h"
#include "range_map.h"

struct code_question {
        uint64_t vaddr; /* the place's */
        struct code_place *place;
        uint32_t unit; /* the number of the unit in READER->dwarf that has the address */
};

/* The destination of ranges of code, with one VALUE for all. */
struct code_ranges {
        const struct elf_file *file;
        struct range_map *map;
        uint32_t value;
};

/* A die_ranges() taker: adds to CONTEXT, the struct code_ranges. Functions that the
 * linker dropped keep entries, with addresses without code. These are skipped. */
int code_ranges_add(void *context, uint64_t low, uint64_t high);

/* Answers ASKED, COUNT (at least one) places of one unit in the order of their addresses.
 * 0 or -ENOMEM. */
int code_unit_find(const struct code_reader *reader, const struct code_question *asked,
                   size_t count);

#endif
