/* SPDX-License-Identifier: MIT */
/* Matches function names against the names that a user types. */
#ifndef MEMLAG_FUNCTION_PATTERN_H
#define MEMLAG_FUNCTION_PATTERN_H

#include <stdbool.h>

struct sqlite3;

/* Whether PATTERN matches NAME. '*' matches any characters, '<...>' any template
 * arguments, and "[]" itself. Distinguishing suffixes of NAME, its parameters or its
 * template arguments may be missing. A PATTERN without '*' matches a name in any scope.
 */
bool function_pattern_matches(const char *pattern, const char *name);

/* The number of letters to change in TEXT, an unknown name, or in NAME, to make them
 * equal. -1: too many for a typing error. */
int function_pattern_distance(const char *text, const char *name);

/* Registers the SQL functions function_matches(PATTERN, NAME) and function_distance(TEXT,
 * NAME); the latter gives NULL for -1. Returns 0 or an SQLite error. */
int function_pattern_register(struct sqlite3 *database);

#endif
