/* SPDX-License-Identifier: MIT */
/* Lines of source files, as far as they are at hand. */
#ifndef MEMLAG_SOURCE_TEXT_H
#define MEMLAG_SOURCE_TEXT_H

#include <stdint.h>
#include <stdio.h>

struct stat;

struct db;

/* Prints LINE of the file PATH, which DB names, marked, with some lines around it, and
 * says when the file was changed after RECORDED_S (seconds of the epoch; INT64_MAX: not
 * known) or after MODULE (may be NULL) was built. Returns 0, or a negative errno value
 * and prints nothing when the file cannot be read, is shorter, or is none that debug
 * information names. */
int source_text_print(FILE *out, struct db *db, const char *path, int64_t line,
                      int64_t recorded_s, const char *module);

/* Opens PATH, if that is a regular file; NULL: errno says why not. *STATUS is the file's.
 */
FILE *source_text_open(const char *path, struct stat *status);

/* The next line of FILE, fit for a terminal: without its end and the blanks before that,
 * tabs expanded, its first 200 columns. NULL at the end of the file or without memory.
 * The caller frees it. */
char *source_text_line(FILE *file);

/* Skips COUNT lines, or what there is. */
void source_text_skip(FILE *file, int64_t count);

/* What the file with STATUS is newer than, "recording" or "program", by the same
 * arguments as source_text_print; NULL: nothing. */
const char *source_text_newer_than(const struct stat *status, int64_t recorded_s,
                                   const char *module);

#endif
