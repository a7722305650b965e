/* SPDX-License-Identifier: MIT */
/* Debug files from debuginfod servers, for those who ask for it. */
#ifndef MEMLAG_SYMBOLIZE_DEBUGINFOD_H
#define MEMLAG_SYMBOLIZE_DEBUGINFOD_H

#include "diag.h"
#include "elf_fetch.h"

struct debuginfod;

/* Loads the client library, which is not needed otherwise. -ENOENT when it or the
 * address of a server is missing. */
int debuginfod_open(struct debuginfod **client, struct diag *diag);
void debuginfod_close(struct debuginfod *client);

/* Asks the servers, or the cache of what they had; CLIENT is the context of an elf_fetch.
 * Says on stderr what came and what failed; how far it is, when that is a terminal. What
 * failed once is not asked for again, and when no server can be reached, nothing is. */
int debuginfod_fetch(void *client, const struct elf_wanted *wanted,
                     struct elf_file *file);

/* How many files failed to come; those that no server knows are not counted. */
size_t debuginfod_failures(const struct debuginfod *client);

#endif
