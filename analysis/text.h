/* SPDX-License-Identifier: MIT */
/* Bytes that come from programs and databases, made fit for a terminal. */
#ifndef MEMLAG_TEXT_H
#define MEMLAG_TEXT_H

#include <stddef.h>

/* What is shown of a text of a database at most: no name is longer. */
#define TEXT_SHOWN_BYTES ((size_t)16384)

/* The length of the UTF-8 character at the start of the COUNT > 0 BYTES, or 0 when
 * they do not begin with one. */
size_t text_character(const char *bytes, size_t count);

/* A copy of BYTES with control characters and what is not UTF-8 as \n, \t or \xNN,
 * which the caller frees; NULL without memory. */
char *text_printable(const char *bytes, size_t count);

/* The number of characters of TEXT, which text_printable made. */
size_t text_width(const char *text);

#endif
