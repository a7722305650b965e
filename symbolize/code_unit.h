/* SPDX-License-Identifier: MIT */
/* What the addresses of one compilation unit are called. */
#ifndef MEMLAG_SYMBOLIZE_CODE_UNIT_H
#define MEMLAG_SYMBOLIZE_CODE_UNIT_H

#include "code.h"

/* What answers are read from, and where they go. */
struct code_reader {
        struct dwarf_file *dwarf; /* NULL: none */
        const struct elf_file *file;
        const struct symbol_table *symbols;
        struct string_pool *names;
        struct code_frames *frames;
};

struct code_question {
        struct code_place *place;
        uint32_t unit; /* the number of the unit in READER->dwarf that has the address */
};

/* Answers ASKED, COUNT (at least one) places of one unit in the order of their addresses.
 * 0 or -ENOMEM. */
int code_unit_find(const struct code_reader *reader, const struct code_question *asked,
                   size_t count);

/* The name of the function that a symbol says is at VADDR; 0: none does. */
uint32_t code_symbol_name(const struct code_reader *reader, uint64_t vaddr);

#endif
