/* SPDX-License-Identifier: MIT */
/* The members in an expression of the source. The parser reads only the expression's
 * line, and does not parse C, C++ or Rust in full. */
#ifndef MEMLAG_SYMBOLIZE_SOURCE_EXPRESSION_H
#define MEMLAG_SYMBOLIZE_SOURCE_EXPRESSION_H

#include <stddef.h>

enum source_expression {
        SOURCE_NO_MEMBERS, /* there is no such expression, or it is too long */
        SOURCE_MEMBERS,
        SOURCE_OPERANDS /* an operator's; one operand is loaded */
};

/* Finds the members of the expression at COLUMN, from 1, of LINE, which has LENGTH bytes.
 * COLUMN comes from debug information. Writes the members into TEXT of SIZE bytes in the
 * order of the source, each behind its '.', or a '>' for "->". In ":d>u.srv.port" the ':'
 * marks the first name. In "(b>x" the '(' marks the type of a pointer cast. For OPERANDS
 * it writes both operands, with a blank between.
 *
 * clang's column is the last member's name, or the start of an array expression. gcc's
 * column is the link or bracket: '.', "->" or '['. A "->" may follow the loaded pointer.
 * Both give an operator's column when it loads its operand. */
enum source_expression source_expression(const char *line, size_t length, size_t column,
                                         char *text, size_t size);

#endif
