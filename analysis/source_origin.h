/* SPDX-License-Identifier: MIT */
/* Checks the origin of source file names. A recording may be malicious and name any file:
 * a file is read only if the program's own debug information names it. */
#ifndef MEMLAG_SOURCE_ORIGIN_H
#define MEMLAG_SOURCE_ORIGIN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "db.h"

/* Whether debug information that symbolize used names FILE, whose status is STATUS. */
bool source_origin_is_known(struct db *db, const char *file, const struct stat *status);

#endif
