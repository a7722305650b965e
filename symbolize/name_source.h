/* SPDX-License-Identifier: MIT */
/* What names are made from: the files of each module and the options. When none of it
 * has changed, the names that are in the database need not be made again. */
#ifndef MEMLAG_SYMBOLIZE_NAME_SOURCE_H
#define MEMLAG_SYMBOLIZE_NAME_SOURCE_H

#include <stdbool.h>

#include "debug_file.h"
#include "looked_for.h"
#include "module_file.h"
#include "symbolize.h"

struct name_sources {
        struct looked_for files; /* debug files from a server have an empty path */
        bool build_unknown;      /* of memlag itself: it is the same as no other */
};

/* Finds them, reading headers only. 0 or a negative errno value; on error the files are
 * still to be freed. */
int name_sources_find(struct name_sources *sources, struct db *db,
                      const struct symbolize_options *options,
                      const struct module_search *files,
                      const struct debug_search *search, struct diag *diag);

/* Whether the names in DB were made from the same, and no file that was looked for then
 * has changed: 1, 0 or a negative errno value. */
int name_sources_same(const struct name_sources *sources, struct db *db,
                      struct diag *diag);

/* Replaces what DB says of them, and of the files that were LOOKED_FOR besides, inside
 * the caller's transaction. */
int name_sources_write(const struct name_sources *sources,
                       const struct looked_for *looked_for, struct db *db,
                       struct diag *diag);

#endif
