/* SPDX-License-Identifier: MIT */
/* The limit on file sizes (ulimit -f). A command that reads a database sets its own: rows
 * with long names make SQLite's temporary files grow with the product of both, and a
 * database may come from anybody. */
#ifndef MEMLAG_FILE_LIMIT_H
#define MEMLAG_FILE_LIMIT_H

#include <stdint.h>

/* The limit on file sizes in bytes; UINT64_MAX: none. */
uint64_t file_limit_bytes(void);

/* The size of the database at PATH; 0: it is no file. */
uint64_t file_limit_size(const char *path);

/* From here on no file of this process, temporary ones included, grows beyond 1 GiB and
 * 64 times DATABASE_BYTES, what it reads: writing fails with EFBIG. A limit that was set
 * before, as by the user (ulimit -f), stands instead. */
void file_limit_set(uint64_t database_bytes);

#endif
