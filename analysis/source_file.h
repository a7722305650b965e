/* SPDX-License-Identifier: MIT */
/* Finds the source file that debug information names: compilation may have used another
 * directory. */
#ifndef MEMLAG_SOURCE_FILE_H
#define MEMLAG_SOURCE_FILE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "db.h"

struct stat;

/* Replaces FROM by TO at the beginning of a path, up to a '/' or its end. Neither FROM
 * nor the path then has a "." or "..", except that a relative one may begin with "..". */
struct source_substitution {
        char *from;
        const char *to;
};

struct source_search {
        struct source_substitution *substitutions;
        size_t substitution_count, substitution_capacity;
        const char **directories;
        size_t directory_count, directory_capacity;
};

enum { SOURCE_PATH = 1100, SOURCE_SUBSTITUTE };

/* For a command's option table. */
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

/* Handles an option of SOURCE_SEARCH_OPTIONS; TEXT stays the caller's. Ends the process
 * on bad usage. Returns ARGP_ERR_UNKNOWN for other options. */
error_t source_search_parse(struct source_search *search, int key, const char *text,
                            struct argp_state *state);
void source_search_free(struct source_search *search);

/* Opens the source file PATH of DB. Tries the first matching substitution, then PATH
 * itself if debug information names it. Then tries the longest suffix of PATH below each
 * directory. *FOUND gets the opened path, which the caller frees. NULL if not found. */
FILE *source_file_open(struct db *db, const struct source_search *search,
                       const char *path, struct stat *status, char **found);

#endif
