/* SPDX-License-Identifier: MIT */
/* Recordings with complete names and findings. */
#ifndef MEMLAG_COMPLETED_H
#define MEMLAG_COMPLETED_H

#include "db.h"

/* Opens FILE for reading, after running the stages that it lacks. On error, prints a
 * message of COMMAND and returns NULL. The caller closes it. */
struct db *completed_open(const char *file, const char *command);

#endif
