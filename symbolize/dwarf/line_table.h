/* SPDX-License-Identifier: MIT */
/* The lines of a unit (DWARF 2 to 5, section 6.2) at the addresses that are asked about:
 * its program runs once, and only rows that hold one of them are kept. Pure functions
 * over bytes that may lie. */
#ifndef MEMLAG_SYMBOLIZE_LINE_TABLE_H
#define MEMLAG_SYMBOLIZE_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole sections; a missing one has no bytes. Texts count where the last one ends. */
struct line_sections {
        const uint8_t *lines, *lines_end; /* .debug_line */
        const uint8_t *texts, *texts_end; /* .debug_str */
        const uint8_t *line_texts, *line_texts_end;
        bool swapped;      /* the other order of bytes than the host's */
        bool code_at_zero; /* the program has some there */
};

/* A source file as the table has it. */
struct line_file {
        const char *name;      /* in the sections; NULL: not known */
        const char *directory; /* the same; NULL: the unit's */
};

/* Zero-initialised: empty. */
struct line_table {
        struct line_file *files; /* by their numbers in rows and entries */
        size_t file_count;
        size_t file_capacity;
        const char **directories;
        size_t directory_count;
        size_t directory_capacity;
        const uint8_t *program;
        const uint8_t *program_end;
        const uint8_t *opcode_arguments; /* how many each standard opcode has */
        uint8_t version;
        uint8_t opcode_base;
        uint8_t line_range;
        int8_t line_base;
        uint8_t instruction_bytes;
        uint8_t operations; /* that an instruction has at most */
        bool swapped;
        bool code_at_zero;
};

struct line_answer {
        uint64_t vaddr; /* the question */
        bool found;
        uint32_t file;
        uint32_t line;    /* 0: of no line */
        uint32_t column;  /* in it, from 1; 0: not known */
        uint64_t row;     /* where the row begins */
        uint64_t ends_at; /* the last end of a sequence up to the address */
};

/* Reads the header at OFFSET of SECTIONS, which must stay, and takes the bytes read from
 * BUDGET. 0, -EINVAL or -ENOMEM; freed in any case. */
int line_table_read(struct line_table *table, const struct line_sections *sections,
                    uint64_t offset, uint64_t *budget);
void line_table_free(struct line_table *table);

/* Answers ANSWERS, COUNT questions in ascending order: with the last row that begins up
 * to the address, unless that ends a sequence. Sequences of functions that the linker
 * discarded count for nothing. Stops where BUDGET, in steps of the
 * program and rows kept, is spent. 0 or -ENOMEM. */
int line_table_find(struct line_table *table, struct line_answer *answers, size_t count,
                    uint64_t *budget);

#endif
