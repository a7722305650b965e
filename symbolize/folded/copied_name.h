/* SPDX-License-Identifier: MIT */
/* The suffixes of copied functions' names. In a program optimised as a whole, functions
 * of one name in several files have a suffix, too. */
#ifndef MEMLAG_SYMBOLIZE_COPIED_NAME_H
#define MEMLAG_SYMBOLIZE_COPIED_NAME_H

#include <stdbool.h>

/* Whether SYMBOL names a copy. */
bool copied_name(const char *symbol);

/* Whether A and B, names of one function but for that, are of two files. */
bool copied_names_differ(const char *a, const char *b);

#endif
