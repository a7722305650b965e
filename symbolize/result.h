/* SPDX-License-Identifier: MIT */
/* Writes the tables of names, and the ledger of missing ones. */
#ifndef MEMLAG_SYMBOLIZE_RESULT_H
#define MEMLAG_SYMBOLIZE_RESULT_H

#include "object.h"

/* Deletes this stage's rows, inside a transaction. 0 or a negative errno value, as
 * all. */
int result_clear(struct db *db, struct diag *diag);
/* Writes the rows of FROM. */
int result_write(const struct object_sources *from, struct db *db, struct diag *diag);

#endif
