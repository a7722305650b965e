/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust, short enough for a column of a table. Knows no tables. */
#ifndef MEMLAG_SHORT_NAME_H
#define MEMLAG_SHORT_NAME_H

#include <stddef.h>

/* A copy of NAME's *LENGTH bytes, any of which may be 0, which the caller frees, in which
 * template arguments are
 * "<...>": the innermost first, and no more than needed for it to have at most MOST
 * bytes, if that is enough; its own length replaces *LENGTH. Takes time in proportion to
 * that. NULL without memory. */
char *short_name(const char *name, size_t *length, size_t most);

/* The same where OTHER would be as short: arguments in which the two differ stay. */
char *short_name_unlike(const char *name, size_t *length, const char *other,
                        size_t other_length);

#endif
