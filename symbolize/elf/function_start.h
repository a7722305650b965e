/* SPDX-License-Identifier: MIT */
/* Finds the start of a function without a symbol. Stripped files keep the unwind table
 * (.eh_frame), and most compilers give it an entry for each function. */
#ifndef MEMLAG_SYMBOLIZE_FUNCTION_START_H
#define MEMLAG_SYMBOLIZE_FUNCTION_START_H

#include "elf_file.h"

struct function_start {
        uint64_t vaddr; /* the question */
        uint64_t start; /* the answer, at VADDR or before; only when FOUND */
        bool found;
};

/* Answers the COUNT questions STARTS, in ascending order of addresses. TABLE is an unwind
 * table of BYTES at the file's address VADDR. If a table would cost far more than its
 * size suggests, some starts stay unresolved. */
void function_starts_in(const uint8_t *table, size_t bytes, uint64_t vaddr,
                        struct function_start *starts, size_t count);

/* The same from FILE's table, for starts at code of the file. */
void function_starts_find(const struct elf_file *file, struct function_start *starts,
                          size_t count);

#endif
