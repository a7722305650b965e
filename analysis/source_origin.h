/* SPDX-License-Identifier: MIT */
/* Where a recording has the names of source files from. It may come from anybody, and
 * name any file: one is read if the program's own debug information names it. */
#ifndef MEMLAG_SOURCE_ORIGIN_H
#define MEMLAG_SOURCE_ORIGIN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "db.h"

/* Whether debug information, in a file that symbolize took names from, names FILE, whose
 * status is STATUS. */
bool source_origin_is_known(struct db *db, const char *file, const struct stat *status);

#endif
