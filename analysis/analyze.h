/* SPDX-License-Identifier: MIT */
/* The analysis stage: derives findings and views from the raw rows and names of a
 * database. */
#ifndef MEMLAG_ANALYZE_H
#define MEMLAG_ANALYZE_H

#include <stdbool.h>

#include "db.h"

/* Replaces findings, views and the stage's part of the ledger in one transaction. DB is
 * open for writing. Equal rows give equal findings. */
int analyze(struct db *db, struct diag *diag);

/* Computes the findings of a part of the recording. The caller has created empty
 * temporary tables for findings, threshold, interval and ledger. Thresholds and interval
 * verdicts use all samples and counter values. The SQL statements PART then create
 * temporary views of the part that shadow sample and reading. PARTS: also fills the
 * temporary table sample_part (judge/rules/tally.h). Opens no transaction. */
int analyze_part(struct db *db, const char *part, bool parts, struct diag *diag);

#endif
