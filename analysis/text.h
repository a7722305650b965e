/* SPDX-License-Identifier: MIT */
/* Makes bytes from programs and databases printable on a terminal. */
#ifndef MEMLAG_TEXT_H
#define MEMLAG_TEXT_H

#include <stddef.h>

/* Output limit for a text from a database: no real name is longer. */
#define TEXT_SHOWN_BYTES ((size_t)16384)

/* The length of the UTF-8 character at the start of the COUNT > 0 BYTES; 0: no valid
 * character. */
size_t text_character(const char *bytes, size_t count);

/* A copy of BYTES, which the caller frees. Control characters and bytes that are not
 * UTF-8 become \n, \t or \xNN. NULL without memory. */
char *text_printable(const char *bytes, size_t count);

/* The number of characters in TEXT, a result of text_printable. */
size_t text_width(const char *text);

#endif
