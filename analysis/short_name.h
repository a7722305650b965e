/* SPDX-License-Identifier: MIT */
/* Shortens names of C++ and Rust for a table column. Knows no tables. */
#ifndef MEMLAG_SHORT_NAME_H
#define MEMLAG_SHORT_NAME_H

#include <stddef.h>

/* Returns a copy of NAME's *LENGTH bytes (which may contain 0) with template arguments
 * replaced by "<...>", and hashes in "/rustc/HASH/" by "..."; the caller frees it. Cuts the innermost arguments first, and only
 * as many as MOST bytes require. Updates *LENGTH. Takes linear time. NULL without memory.
 */
char *short_name(const char *name, size_t *length, size_t most);

/* Like short_name, if OTHER would get the same short form: leaves arguments that differ.
 */
char *short_name_unlike(const char *name, size_t *length, const char *other,
                        size_t other_length);

#endif
