/* SPDX-License-Identifier: MIT */
/* The analysis stage: from the raw rows and names of a database to its findings
 * and views. */
#ifndef MEMLAG_ANALYZE_H
#define MEMLAG_ANALYZE_H

#include "db.h"

/* Replaces findings, views and the stage's part of the ledger, all at once or not
 * at all. DB is open for writing. The same rows give the same findings. */
int analyze(struct db *db, struct diag *diag);

/* Makes the findings of a part of the recording, for a connection that shows that part
 * alone: the tables of findings, threshold, interval and ledger are temporary ones there,
 * and empty. What holds for all that ran, the limits and which intervals were contended, is
 * found of all; then the statements PART leave the part's samples and readings. */
int analyze_part(struct db *db, const char *part, struct diag *diag);

#endif
