/* SPDX-License-Identifier: MIT */
/* Writing what was found: the tables of names, and the ledger of what is missing. */
#ifndef MEMLAG_SYMBOLIZE_RESULT_H
#define MEMLAG_SYMBOLIZE_RESULT_H

#include "object.h"

/* Takes away the rows of this stage, inside the caller's transaction. 0 or a negative
 * errno value, as all. */
int result_clear(struct db *db, struct diag *diag);
/* Writes those that FROM tells. */
int result_write(const struct object_sources *from, struct db *db, struct diag *diag);

#endif
