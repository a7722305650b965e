/* SPDX-License-Identifier: MIT */
/* Lines of source files, if available. */
#ifndef MEMLAG_SOURCE_TEXT_H
#define MEMLAG_SOURCE_TEXT_H

#include <stdint.h>
#include <stdio.h>

struct stat;

struct db;

/* Prints and marks LINE of the file PATH, which DB names, with some lines around it.
 * Warns if the file changed after RECORDED_S (seconds since the epoch; INT64_MAX: not
 * known), or after the build of MODULE (may be NULL). Returns 0. Returns a negative errno
 * value and prints nothing if the file cannot be read, is too short, or debug information
 * does not name it. */
int source_text_print(FILE *out, struct db *db, const char *path, int64_t line,
                      int64_t recorded_s, const char *module);

/* Opens PATH if it is a regular file; NULL with errno otherwise. *STATUS gets the file's
 * status. */
FILE *source_text_open(const char *path, struct stat *status);

/* The next line of FILE for a terminal: tabs expanded, trailing blanks and line end
 * removed, cut to 200 columns. NULL at the end of the file or without memory. The caller
 * frees it. */
char *source_text_line(FILE *file);

/* Skips COUNT lines, or the remaining lines if fewer. */
void source_text_skip(FILE *file, int64_t count);

/* "recording" or "program" if the file with STATUS is newer; NULL if not. See
 * source_text_print for the arguments. */
const char *source_text_newer_than(const struct stat *status, int64_t recorded_s,
                                   const char *module);

#endif
