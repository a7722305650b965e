/* SPDX-License-Identifier: MIT */
/* Rows of a database collected into large transactions, which end at the latest after a
 * second, and sooner where the disk has little room. Knows statements by number, and of
 * what they write only which are the samples. */
#ifndef MEMLAG_BATCH_H
#define MEMLAG_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"

struct batch;
struct sqlite3_stmt;

/* SQL are the COUNT statements that write rows, of which number SAMPLE writes samples:
 * the message of an error tells how many of these were committed before. DB must outlive
 * the batch. */
int batch_open(struct db *db, const char *const *sql, size_t count, size_t sample,
               struct batch **batch, struct diag *diag);

/* Frees BATCH (NULL is allowed); what is not committed is lost. */
void batch_free(struct batch *batch);

/* Commits. */
int batch_flush(struct batch *batch, struct diag *diag);

/* Begins a row of statement number STATEMENT, whose parameters are to be bound in *ROW.
 * batch_end_row must follow, unless this fails. */
int batch_begin_row(struct batch *batch, size_t statement, struct sqlite3_stmt **row,
                    struct diag *diag);

/* Writes the row that was begun last, and gives its key in *ID unless that is NULL. A row
 * that breaks a constraint is refused alone (-EINVAL). After any other error the open
 * transaction is lost, and with it rows that later ones may refer to: every later call
 * gives the same error. */
int batch_end_row(struct batch *batch, int64_t *id, struct diag *diag);

/* The same for a statement that writes COUNT rows, or one as large as these. */
int batch_end_rows(struct batch *batch, uint64_t count, struct diag *diag);

#endif
