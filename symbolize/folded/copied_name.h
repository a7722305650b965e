/* SPDX-License-Identifier: MIT */
/* What compilers put behind the names of functions that they copied, or of which several
 * files of a program optimised as a whole have one of that name. */
#ifndef MEMLAG_SYMBOLIZE_COPIED_NAME_H
#define MEMLAG_SYMBOLIZE_COPIED_NAME_H

#include <stdbool.h>

/* Whether SYMBOL is that of a copy. */
bool copied_name(const char *symbol);

/* Whether A and B, names of one function but for that, are of two files. */
bool copied_names_differ(const char *a, const char *b);

#endif
