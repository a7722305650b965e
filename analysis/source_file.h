/* SPDX-License-Identifier: MIT */
/* Where the source file is that debug information names: where that was compiled, it may
 * have been somewhere else. */
#ifndef MEMLAG_SOURCE_FILE_H
#define MEMLAG_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "db.h"

struct stat;

/* FROM at the beginning of a path, up to a '/' or its end, is TO. */
struct source_substitution {
        const char *from;
        size_t from_bytes;
        const char *to;
};

struct source_search {
        struct source_substitution *substitutions;
        size_t substitution_count;
        const char **directories;
        size_t directory_count;
};

/* Parses "FROM=TO", which stays the caller's; false when it is none. */
bool source_substitution_parse(const char *text,
                               struct source_substitution *substitution);

/* Opens the file that PATH of DB names: after the first substitution that fits, or if
 * debug information names it, or else below each directory, with as much of the end of
 * PATH as there is. NULL when it is nowhere. *FOUND is its path, which the caller frees.
 */
FILE *source_file_open(struct db *db, const struct source_search *search,
                       const char *path, struct stat *status, char **found);

#endif
