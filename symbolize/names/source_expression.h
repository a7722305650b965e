/* SPDX-License-Identifier: MIT */
/* The members that an expression of the source goes through. Only its own line is looked
 * at: what is C, C++ or Rust is not parsed. */
#ifndef MEMLAG_SYMBOLIZE_SOURCE_EXPRESSION_H
#define MEMLAG_SYMBOLIZE_SOURCE_EXPRESSION_H

#include <stddef.h>

enum source_expression {
        SOURCE_NO_MEMBERS, /* there is no such expression, or it is too long */
        SOURCE_MEMBERS,
        SOURCE_OPERANDS /* an operator's, one of which is meant */
};

/* The members of the expression that debug information means by COLUMN, from 1, of LINE,
 * which has LENGTH bytes, in the order of the source, each behind its '.', or a '>' for
 * "->", in TEXT of SIZE bytes: ":d>u.srv.port", where ':' is before the name that it
 * begins with, or "(b>x", where '(' is before that of a type to which it casts a pointer;
 * of OPERANDS those of both, with a blank between. clang's column is where the last
 * member's name is, or the expression of an array begins; gcc's where the '.', "->" or
 * '[' is, of which "->" may be behind the pointer that is loaded; both have that of an
 * operator where that loads its operand. */
enum source_expression source_expression(const char *line, size_t length, size_t column,
                                         char *text, size_t size);

#endif
