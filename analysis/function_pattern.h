/* SPDX-License-Identifier: MIT */
/* Which functions a user means by a name. */
#ifndef MEMLAG_FUNCTION_PATTERN_H
#define MEMLAG_FUNCTION_PATTERN_H

#include <stdbool.h>

struct sqlite3;

/* Whether PATTERN, in which '*' stands for any characters, '<...>' for any arguments of a
 * template and "[]" for itself, is NAME, or NAME without what tells it from others of the
 * name, without parameters or without its template's arguments. One without '*' is also a
 * name in any scope. */
bool function_pattern_matches(const char *pattern, const char *name);

/* How many letters of TEXT, a name that nothing has, or of NAME must change for the name
 * alone to be TEXT; -1: more than such as are mistyped. */
int function_pattern_distance(const char *text, const char *name);

/* Makes these function_matches(PATTERN, NAME) and function_distance(TEXT, NAME) of SQL,
 * the latter NULL for -1. 0 or an error of SQLite. */
int function_pattern_register(struct sqlite3 *database);

#endif
