/* SPDX-License-Identifier: MIT */
/* Opens the kernel's text files below a root directory: "" is the machine's root. */
#ifndef MEMLAG_PERF_ROOT_FILE_H
#define MEMLAG_PERF_ROOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens PATH, which begins with '/', below ROOT for reading; NULL: it cannot be
 * opened. */
FILE *root_file_open(const char *root, const char *path);

/* Reads the first line of the file into TEXT of SIZE bytes, without its end. False where
 * the file cannot be read or is not shorter than that. */
bool root_file_line(const char *root, const char *path, char *text, size_t size);

#endif
