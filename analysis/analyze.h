/* SPDX-License-Identifier: MIT */
/* The analysis stage: from the raw rows and names of a database to its findings
 * and views. */
#ifndef MEMLAG_ANALYZE_H
#define MEMLAG_ANALYZE_H

#include "db.h"

/* Replaces findings, views and the stage's part of the ledger, all at once or not
 * at all. DB is open for writing. The same rows give the same findings. */
int analyze(struct db *db, struct diag *diag);

/* Makes the findings of a part of the recording. The caller has made empty temporary
 * tables for findings, threshold and interval, and one for the ledger. Thresholds and the
 * verdicts on intervals come from all samples and readings. Then the SQL statements PART
 * put temporary views of the part before sample and reading. Opens no transaction. */
int analyze_part(struct db *db, const char *part, struct diag *diag);

#endif
