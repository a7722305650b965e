/* SPDX-License-Identifier: MIT */
/* Recordings with all their names and findings. */
#ifndef MEMLAG_COMPLETED_H
#define MEMLAG_COMPLETED_H

#include "db.h"

/* Opens FILE for reading, after the stages that it lacks have run on it; NULL after a
 * message of COMMAND. The caller closes it. */
struct db *completed_open(const char *file, const char *command);

#endif
