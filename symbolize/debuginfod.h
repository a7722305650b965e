/* SPDX-License-Identifier: MIT */
/* Debug files from debuginfod servers, for those who ask for it. */
#ifndef MEMLAG_SYMBOLIZE_DEBUGINFOD_H
#define MEMLAG_SYMBOLIZE_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"

struct debuginfod;

/* Loads the client library, which is not needed otherwise. -ENOENT when it or the
 * address of a server is missing. */
int debuginfod_open(struct debuginfod **client, struct diag *diag);
void debuginfod_close(struct debuginfod *client);

/* A debug_fetch (debug_file.h); CLIENT is its context. */
int debuginfod_fetch(void *client, const uint8_t *build_id, size_t bytes);

#endif
