/* SPDX-License-Identifier: MIT */
/* The sources of names: the files of each module and the options. If none has changed,
 * the names in the database need not be made again. */
#ifndef MEMLAG_SYMBOLIZE_NAME_SOURCE_H
#define MEMLAG_SYMBOLIZE_NAME_SOURCE_H

#include <stdbool.h>

#include "debug_file.h"
#include "looked_for.h"
#include "module_file.h"
#include "symbolize.h"

struct name_sources {
        struct looked_for files; /* debug files from a server have an empty path */
        bool build_unknown;      /* of memlag itself: it then equals no other build */
};

/* Finds the sources; reads only headers. 0 or a negative errno value; on error the files
 * are still to be freed. */
int name_sources_find(struct name_sources *sources, struct db *db,
                      const struct symbolize_options *options,
                      const struct module_search *files,
                      const struct debug_search *search, struct diag *diag);

/* Whether the names in DB were made from the same sources, and no file that was looked
 * for has changed since: 1, 0 or a negative errno value. */
int name_sources_same(const struct name_sources *sources, struct db *db,
                      struct diag *diag);

/* Replaces the sources in DB, and the files that were LOOKED_FOR besides, inside the
 * caller's transaction. */
int name_sources_write(const struct name_sources *sources,
                       const struct looked_for *looked_for, struct db *db,
                       struct diag *diag);

#endif
