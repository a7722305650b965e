/* SPDX-License-Identifier: MIT */
/* The source files that debug information names. */
#ifndef MEMLAG_CODE_SOURCE_NAMES_H
#define MEMLAG_CODE_SOURCE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Returns true if a unit of debug information in the ELF file PATH names the file
 * SOURCE. The unit must contain the code at ADDRESS (ELF virtual address); BASE is
 * SOURCE's name without its directory. */
bool source_is_named(const char *path, uint64_t address, const char *base,
                     const struct stat *source);

#endif
