/* SPDX-License-Identifier: MIT */
/* The analysis stage: from the raw rows and names of a database to its findings
 * and views. */
#ifndef MEMLAG_ANALYZE_H
#define MEMLAG_ANALYZE_H

#include "db.h"

/* Replaces findings, views and the stage's part of the ledger, all at once or not
 * at all. DB is open for writing. The same rows give the same findings. */
int analyze(struct db *db, struct diag *diag);

#endif
