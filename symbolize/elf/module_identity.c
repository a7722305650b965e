/* SPDX-License-Identifier: MIT */
/* The time of modification tells nothing: a copy, or a file that was only touched, has
 * another, and where times are normalised all files have the same. */
#include "module_identity.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "file_checksum.h"

struct module_identity module_identity_of_row(sqlite3_stmt *row, int column)
{
        return (struct module_identity){
            .path = (const char *)sqlite3_column_text(row, column),
            .build_id = sqlite3_column_blob(row, column + 1),
            .build_id_bytes = (size_t)sqlite3_column_bytes(row, column + 1),
            .file = {.known = sqlite3_column_type(row, column + 2) != SQLITE_NULL,
                     .size_bytes = (uint64_t)sqlite3_column_int64(row, column + 2),
                     .checksum = sqlite3_column_int64(row, column + 3)}};
}

static bool is_recorded_file(const struct recorded_file *recorded,
                             const struct elf_file *file)
{
        struct stat status;
        uint32_t checksum;

        return recorded->checksum >= 0 && fstat(file->fd, &status) == 0 &&
               (uint64_t)status.st_size == recorded->size_bytes &&
               file_checksum(file->fd, &checksum) && checksum == recorded->checksum;
}

bool module_identity_is(const struct module_identity *identity,
                        const struct elf_file *file)
{
        if (identity->build_id_bytes > 0)
                return identity->build_id_bytes == file->build_id_bytes &&
                       memcmp(identity->build_id, file->build_id, file->build_id_bytes) ==
                           0;
        return !identity->file.known || is_recorded_file(&identity->file, file);
}
