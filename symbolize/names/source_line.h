/* SPDX-License-Identifier: MIT */
/* What a line of the source has of members and names in all, where its column does not
 * say what is meant. What is C or C++ is not parsed. */
#ifndef MEMLAG_SYMBOLIZE_SOURCE_LINE_H
#define MEMLAG_SYMBOLIZE_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether COLUMN, from 1, of LINE, which has LENGTH bytes, is that of a member: of its
 * '.' or "->", or of its name. Compilers have none but the access to it there. */
bool source_line_at_member(const char *line, size_t length, size_t column);

/* The expressions of all members on LINE, each as source_expression() has it, with blanks
 * between, in TEXT of SIZE bytes. False: there are none, or too many, or the line may
 * read others: by a macro that is called, or a pointer or an array that is read. */
bool source_line_members(const char *line, size_t length, char *text, size_t size);

/* The names in SOURCE, which has LENGTH bytes, each behind a blank, and a blank at the
 * end, in TEXT of SIZE bytes. False: there are none, or too many. */
bool source_line_names(const char *source, size_t length, char *text, size_t size);

/* The statement that what is at BEGIN up to END of SOURCE, which has LENGTH bytes, is in:
 * *FROM up to *TO, which may be more. */
void source_line_statement(const char *source, size_t length, size_t begin, size_t end,
                           size_t *from, size_t *to);

#endif
