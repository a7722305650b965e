/* SPDX-License-Identifier: MIT */
/* How many samples got a line, function, stack, object and type, and why the others did
 * not: for each of the five the counts add up to all samples. */
#ifndef MEMLAG_SYMBOLIZE_RESOLUTION_H
#define MEMLAG_SYMBOLIZE_RESOLUTION_H

#include "result.h"

/* Writes the table resolution, which is empty, and into the ledger why samples have no
 * line. 0 or a negative errno value. */
int resolution_write(const struct result *result, struct db *db, struct diag *diag);

#endif
