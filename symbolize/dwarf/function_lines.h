/* SPDX-License-Identifier: MIT */
/* The lines of instructions of one function. The line program of the whole unit runs
 * to find them. */
#ifndef MEMLAG_SYMBOLIZE_FUNCTION_LINES_H
#define MEMLAG_SYMBOLIZE_FUNCTION_LINES_H

#include "die.h"
#include "line_program.h"

/* Answers ANSWERS, COUNT addresses of FUNCTION in ascending order: all of them or
 * none. 0; -ENOENT if the unit's program has run too often or there is none; -ENOMEM. */
int function_lines(struct dwarf_file *dwarf, Dwarf_Die *function,
                   struct line_answer *answers, size_t count);

#endif
