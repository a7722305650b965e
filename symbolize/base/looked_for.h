/* SPDX-License-Identifier: MIT */
/* The files that were looked for while names were made. The complete list exists only
 * after the debug information and the process's mappings have been read. */
#ifndef MEMLAG_SYMBOLIZE_LOOKED_FOR_H
#define MEMLAG_SYMBOLIZE_LOOKED_FOR_H

#include <stdbool.h>
#include <stdint.h>

#include "append.h"

struct looked_for_file {
        int64_t module_id; /* 0: of the whole run */
        const char *role;  /* as in the table name_source */
        char *path;
        uint64_t size_bytes; /* 0, and modified_ns 0: it was not there */
        int64_t modified_ns; /* since 1970 */
};

struct looked_for {
        LIST(struct looked_for_file);
};

struct stat;

/* Notes PATH with the size and time in STATUS (NULL: not there, or not read). 0 or
 * -ENOMEM, as below. */
int looked_for_put(struct looked_for *files, int64_t module_id, const char *role,
                   const char *path, const struct stat *status);

/* Notes the present state of PATH, which belongs to the whole run. A later change of the
 * file then shows. Call it before the file is read. FILES may be NULL: nothing is
 * noted. */
int looked_for_add(struct looked_for *files, const char *path);

/* Whether the file at PATH differs from the noted one. A file that is gone does not count
 * as changed: it would give no names. */
bool looked_for_changed(const char *path, uint64_t size_bytes, int64_t modified_ns);

void looked_for_free(struct looked_for *files);

#endif
