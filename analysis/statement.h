/* SPDX-License-Identifier: MIT */
/* SQL statements of the analysis stage: wraps repeated calls of sqlite3.h. */
#ifndef MEMLAG_STATEMENT_H
#define MEMLAG_STATEMENT_H

#include "db.h"

struct sqlite3_stmt;

/* Selects the memory samples s: a data source NA means no memory access. Add AND or
 * another clause after WHERE. Looks up the sources in a list, which is twice as fast as a
 * join for each sample. */
#define STATEMENT_MEMORY_SAMPLES                                                         \
        " WHERE (s.data_source_id IS NULL AND s.addr IS NOT NULL OR s.data_source_id IN" \
        " (SELECT data_source_id FROM data_source WHERE op <> 'NA' OR level <> 'NA')) "

/* The stall time of sample s in cycles, limited as in stall_limit.h. */
#define STATEMENT_STALL_LIMIT "stall_limit_cycles"
#define STATEMENT_STALL                                                                  \
        " min(s.retire_latency_cycles, coalesce((SELECT CAST(value AS INTEGER)"          \
        " FROM threshold WHERE name = '" STATEMENT_STALL_LIMIT                           \
        "'), s.retire_latency_cycles)) "

/* The total time of timer samples; shares refer to it. Samples of `clock` may be outside
 * loads, samples of `sim` are all at loads. 0: no timer samples. */
#define STATEMENT_TIMED_NS                                                               \
        " (SELECT total(stall_ns) FILTER (WHERE stall_ns > 0)"                           \
        " + count(*) FILTER (WHERE coalesce(stall_ns, 0) <= 0)"                          \
        " * coalesce(max(stall_ns) FILTER (WHERE stall_ns > 0), 0)"                      \
        " * EXISTS (SELECT 1 FROM run WHERE key = 'source' AND value = 'clock')"         \
        " FROM sample) "

/* Whether the run could decide for any sample if DRAM bandwidth was short. If not,
 * contention is unknown everywhere. */
#define STATEMENT_CONTENTION                                                             \
        " EXISTS (SELECT 1 FROM line_finding WHERE contended_samples IS NOT NULL) "

/* Compiles SQL into *STATEMENT; the caller finalizes it. */
int statement_prepare(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                      struct diag *diag);

/* Runs STATEMENT, which gives no rows, and resets it. */
int statement_run(struct db *db, struct sqlite3_stmt *statement, struct diag *diag);

/* Runs each statement of SQL. They give no rows and write only to temporary tables: an
 * error is a read error. */
int statement_run_all(struct db *db, const char *sql, struct diag *diag);

/* Steps to the next row. Returns 1, 0 at the end, or a negative errno value. */
int statement_next(struct db *db, struct sqlite3_stmt *statement, struct diag *diag);

/* statement_first also prepares SQL. If the result is 1, *STATEMENT is at the first row.
 * The caller always finalizes it; columns are NULL without a row. */
int statement_first(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                    struct diag *diag);

/* Takes a row of a statement; returns 0 or -ENOMEM. */
typedef int statement_take(void *context, struct sqlite3_stmt *row);

/* Passes each row of SQL to TAKE, until TAKE fails. */
int statement_each(struct db *db, const char *sql, statement_take *take, void *context,
                   struct diag *diag);

/* *NUMBER gets the first column of SQL's first row; 0 without a row. */
int statement_number(struct db *db, const char *sql, int64_t *number, struct diag *diag);

/* Column I as text, valid until the next step. "" for NULL: a damaged file may have NULL
 * in any column. */
const char *statement_text(struct sqlite3_stmt *statement, int i);

/* Column I as printable text, which the caller frees; NULL for NULL. */
char *statement_printable(struct sqlite3_stmt *statement, int i);

/* Binds VALUE, or NULL for NAN. */
void statement_bind_real(struct sqlite3_stmt *statement, int index, double value);

#endif
