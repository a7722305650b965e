/* SPDX-License-Identifier: MIT */
/* Collects rows of a database into large transactions. A transaction lasts at most a
 * second, less when the disk has little room. Knows statements by number, and of their
 * meaning only which statement writes samples. */
#ifndef MEMLAG_BATCH_H
#define MEMLAG_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "db.h"

struct batch;
struct row_group;
struct sqlite3_stmt;

/* SQL are the COUNT statements that write rows. Statements SAMPLE and SAMPLE + 1 write
 * samples: error messages contain the number of committed samples. DB must outlive the
 * batch. */
int batch_open(struct db *db, const char *const *sql, size_t count, size_t sample,
               struct batch **batch, struct diag *diag);

/* Frees BATCH (NULL is allowed); uncommitted rows are lost. */
void batch_free(struct batch *batch);

/* Commits, with the rows that wait in groups. */
int batch_flush(struct batch *batch, struct diag *diag);

/* Begins a row of statement number STATEMENT; the caller binds its parameters in *ROW.
 * batch_end_row must follow, unless this fails. */
int batch_begin_row(struct batch *batch, size_t statement, struct sqlite3_stmt **row,
                    struct diag *diag);

/* Writes the current row, and stores its key in *ID unless ID is NULL. A row that
 * breaks a constraint is refused alone (-EINVAL). After any other error the open
 * transaction is lost, with rows that later rows may refer to: every later call
 * returns the same error. */
int batch_end_row(struct batch *batch, int64_t *id, struct diag *diag);

/* The same for a row of the size of COUNT rows. */
int batch_end_rows(struct batch *batch, uint64_t count, struct diag *diag);

/* For row_group.c. A row that waits in a group counts for the next commit; when its group
 * is written, as COUNT rows, no commit follows. A group has no row that breaks a
 * constraint. */
void batch_add_group(struct batch *batch, struct row_group *group);
int batch_count_row(struct batch *batch, struct diag *diag);
int batch_end_group(struct batch *batch, uint64_t count, struct diag *diag);

#endif
