/* SPDX-License-Identifier: MIT */
/* Debug files from debuginfod servers, on request. */
#ifndef MEMLAG_SYMBOLIZE_DEBUGINFOD_H
#define MEMLAG_SYMBOLIZE_DEBUGINFOD_H

#include "debug_file.h"
#include "diag.h"

struct debuginfod;

/* Loads the client library. -ENOENT when it or the address of a server is missing. */
int debuginfod_open(struct debuginfod **client, struct diag *diag);
void debuginfod_close(struct debuginfod *client);

/* Asks the servers, or the cache of their answers; CLIENT is the context of an elf_fetch.
 * Prints received files and failures on stderr, and the progress if that is a terminal.
 * If no server can be reached, it sends no more requests. */
int debuginfod_fetch(void *client, const struct elf_wanted *wanted,
                     struct elf_file *file);

/* The number of failed downloads; files that no server knows do not count. */
size_t debuginfod_failures(const struct debuginfod *client);

#endif
