/* SPDX-License-Identifier: MIT */
/* The header of a unit's line table (DWARF 2 to 5, section 6.2): its files, and the start
 * of its line program (line_program.h). Pure functions over bytes that may be wrong. */
#ifndef MEMLAG_SYMBOLIZE_LINE_TABLE_H
#define MEMLAG_SYMBOLIZE_LINE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "append.h"
#include "byte_cursor.h"
#include "elf_file.h"

/* Whole sections; a missing one has no bytes. Only terminated texts count. */
struct line_sections {
        struct elf_bytes lines; /* .debug_line */
        struct elf_bytes texts; /* .debug_str */
        struct elf_bytes line_texts;
        bool code_at_zero; /* the program has code at address 0 */
};

/* A source file as the table has it. */
struct line_file {
        const char *name;      /* in the sections; NULL: not known */
        const char *directory; /* the same; NULL: the unit's */
};

/* Zero-initialised: empty. */
struct line_table {
        LIST(struct line_file) files; /* by their numbers in rows and entries */
        LIST(const char *) directories;
        const uint8_t *program;
        const uint8_t *program_end;
        const uint8_t *opcode_arguments; /* their number, for each standard opcode */
        uint8_t version;
        uint8_t opcode_base;
        uint8_t line_range;
        int8_t line_base;
        uint8_t instruction_bytes;
        uint8_t operations; /* the most in an instruction */
        bool code_at_zero;
};

/* Reads the header at OFFSET of SECTIONS, which must stay, and takes the bytes read from
 * BUDGET. 0, -EINVAL or -ENOMEM; freed in any case. */
int line_table_read(struct line_table *table, const struct line_sections *sections,
                    uint64_t offset, uint64_t *budget);
void line_table_free(struct line_table *table);

/* Adds a file as DWARF up to 4 defines it: NAME, and at CURSOR its directory, time and
 * size. 0, -EINVAL or -ENOMEM. */
int line_table_define_file(struct line_table *table, struct byte_cursor *cursor,
                           const char *name);

/* Takes WORK from BUDGET. False: less was left, and now nothing is. */
static inline bool line_table_spend(uint64_t *budget, uint64_t work)
{
        if (*budget < work) {
                *budget = 0;
                return false;
        }
        *budget -= work;
        return true;
}

#endif
