/* SPDX-License-Identifier: MIT */
/* Where the source file is that debug information names: where that was compiled, it may
 * have been somewhere else. */
#ifndef MEMLAG_SOURCE_FILE_H
#define MEMLAG_SOURCE_FILE_H

#include <argp.h>
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
        size_t substitution_count, substitution_capacity;
        const char **directories;
        size_t directory_count, directory_capacity;
};

enum { SOURCE_PATH = 1100, SOURCE_SUBSTITUTE };

/* For a command's table of options. */
#define SOURCE_SEARCH_OPTIONS                                                            \
        {"source-path",                                                                  \
         SOURCE_PATH,                                                                    \
         "DIR",                                                                          \
         0,                                                                              \
         "Look for source files that are not where they were compiled below DIR too; "   \
         "may be given more than once",                                                  \
         0},                                                                             \
        {                                                                                \
                "substitute-path", SOURCE_SUBSTITUTE, "FROM=TO", 0,                      \
                    "Look for source files whose path begins with FROM in TO; may be "   \
                    "given more than once",                                              \
                    0                                                                    \
        }

/* Takes an option of SOURCE_SEARCH_OPTIONS, whose TEXT stays the caller's; ends the
 * process on bad usage. ARGP_ERR_UNKNOWN: KEY is another option. */
error_t source_search_parse(struct source_search *search, int key, const char *text,
                            struct argp_state *state);
void source_search_free(struct source_search *search);

/* Opens the file that PATH of DB names: after the first substitution that fits, or if
 * debug information names it, or else below each directory, with as much of the end of
 * PATH as there is. NULL when it is nowhere. *FOUND is its path, which the caller frees.
 */
FILE *source_file_open(struct db *db, const struct source_search *search,
                       const char *path, struct stat *status, char **found);

#endif
