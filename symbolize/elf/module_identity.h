/* SPDX-License-Identifier: MIT */
/* A recording's knowledge of a mapped file, and whether a file is that file. */
#ifndef MEMLAG_SYMBOLIZE_MODULE_IDENTITY_H
#define MEMLAG_SYMBOLIZE_MODULE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

struct sqlite3_stmt;

/* A file without a build-id, as it was when it was recorded. */
struct recorded_file {
        bool known;
        uint64_t size_bytes;
        int64_t checksum; /* CRC-32; negative: not known, the file was changed already */
};

/* The wanted file: PATH, with this build-id if one was recorded. */
struct module_identity {
        const char *path;
        const uint8_t *build_id;
        size_t build_id_bytes; /* 0: not recorded */
        struct recorded_file file;
};

/* Columns of an identity, from module joined with module_file. */
#define MODULE_IDENTITY_COLUMNS "path, build_id, f.size_bytes, f.checksum"
#define MODULE_IDENTITY_JOIN    " LEFT JOIN module_file AS f USING (module_id) "

/* The identity in ROW, from COLUMN on: its texts are the row's. */
struct module_identity module_identity_of_row(struct sqlite3_stmt *row, int column);

/* Whether FILE is the one: by build-id, or by size and checksum. Any is where nothing was
 * recorded. */
bool module_identity_is(const struct module_identity *identity,
                        const struct elf_file *file);

#endif
