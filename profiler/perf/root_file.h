/* SPDX-License-Identifier: MIT */
/* The kernel's files of text, below a directory that stands for "/": "" is the machine's
 * own. */
#ifndef MEMLAG_PERF_ROOT_FILE_H
#define MEMLAG_PERF_ROOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens PATH, which begins with '/', below ROOT for reading; NULL: it cannot be. */
FILE *root_file_open(const char *root, const char *path);

/* Reads the first line of the file into TEXT of SIZE bytes, without its end. False where
 * the file cannot be read or is not shorter than that. */
bool root_file_line(const char *root, const char *path, char *text, size_t size);

#endif
