/* SPDX-License-Identifier: MIT */
/* The lines of a unit at given addresses. The line program of its table runs once, and
 * only rows with a given address are kept. */
#ifndef MEMLAG_SYMBOLIZE_LINE_PROGRAM_H
#define MEMLAG_SYMBOLIZE_LINE_PROGRAM_H

#include "line_table.h"

struct line_answer {
        uint64_t vaddr; /* the question */
        bool found;
        uint32_t file;
        uint32_t line;    /* 0: the compiler gave none */
        uint32_t column;  /* in it, from 1; 0: not known */
        uint64_t row;     /* the row's start */
        uint64_t ends_at; /* the last sequence end at or before the address */
};

/* Answers ANSWERS, COUNT questions in ascending order: with the last row that begins at
 * or before the address, unless it ends a sequence. Sequences of discarded functions do
 * not count. Stops when BUDGET, in operations of the program and rows, is spent. 0 or
 * -ENOMEM. */
int line_program_run(struct line_table *table, struct line_answer *answers, size_t count,
                     uint64_t *budget);

#endif
