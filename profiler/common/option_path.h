/* SPDX-License-Identifier: MIT */
/* Checks that paths in options exist: a mistyped path would look like a valid path
 * without data. */
#ifndef MEMLAG_OPTION_PATH_H
#define MEMLAG_OPTION_PATH_H

#include "diag.h"

/* Checks that PATH, the value of OPTION ("--symfs"), is a searchable directory. 0, or a
 * negative errno value with a message. */
int option_directory(const char *option, const char *path, struct diag *diag);

/* Checks that it is a readable file, or an ELF file. */
int option_file(const char *option, const char *path, struct diag *diag);
int option_elf_file(const char *option, const char *path, struct diag *diag);

#endif
