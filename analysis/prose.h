/* SPDX-License-Identifier: MIT */
/* Sentences on a terminal. Knows no database. */
#ifndef MEMLAG_PROSE_H
#define MEMLAG_PROSE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Fills lines of at most 90 characters with the words of TEXT, and ends the last. */
void prose_wrapped(FILE *out, const char *text);

/* Like prose_wrapped, with INDENT blanks before each line. WIDTH characters per line
 * include the indent. */
void prose_indented(FILE *out, const char *text, size_t indent, size_t width);

/* "1 interval", "2 intervals", "1 entry", "1 series": PLURAL is a regular plural. */
void prose_counted(FILE *out, int64_t count, const char *plural);

#endif
