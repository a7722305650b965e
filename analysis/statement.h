/* SPDX-License-Identifier: MIT */
/* SQL statements of the analysis stage: what sqlite3.h leaves to be repeated. */
#ifndef MEMLAG_STATEMENT_H
#define MEMLAG_STATEMENT_H

#include "db.h"

struct sqlite3_stmt;

/* The samples s that are of memory: a data source that is NA says that there was no
 * access. To be followed by AND, or what follows WHERE. The sources are looked up in a
 * list: to join each sample with its own takes twice as long. */
#define STATEMENT_MEMORY_SAMPLES                                                         \
        " WHERE (s.data_source_id IS NULL AND s.addr IS NOT NULL OR s.data_source_id IN" \
        " (SELECT data_source_id FROM data_source WHERE op <> 'NA' OR level <> 'NA')) "

/* For how many cycles sample s counts of those for which it held up what came behind it:
 * no more than stall_limit.h says. */
#define STATEMENT_STALL_LIMIT "stall_limit_cycles"
#define STATEMENT_STALL                                                                  \
        " min(s.retire_latency_cycles, coalesce((SELECT CAST(value AS INTEGER)"          \
        " FROM threshold WHERE name = '" STATEMENT_STALL_LIMIT                           \
        "'), s.retire_latency_cycles)) "

/* The time that all samples of a timer stand for: what their shares are of. Those of
 * `clock` are at loads or not, those of `sim` all at loads. 0: the run has none. */
#define STATEMENT_TIMED_NS                                                               \
        " (SELECT total(stall_ns) FILTER (WHERE stall_ns > 0)"                           \
        " + count(*) FILTER (WHERE coalesce(stall_ns, 0) <= 0)"                          \
        " * coalesce(max(stall_ns) FILTER (WHERE stall_ns > 0), 0)"                      \
        " * EXISTS (SELECT 1 FROM run WHERE key = 'source' AND value = 'clock')"         \
        " FROM sample) "

/* Whether it was measured of any sample of the run if DRAM bandwidth was short: where it
 * never was, nothing is contended or not. */
#define STATEMENT_CONTENTION                                                             \
        " EXISTS (SELECT 1 FROM line_finding WHERE contended_samples IS NOT NULL) "

/* Compiles SQL into *STATEMENT; the caller finalizes it. */
int statement_prepare(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                      struct diag *diag);

/* Runs STATEMENT, which gives no rows, and makes it ready to run again. */
int statement_run(struct db *db, struct sqlite3_stmt *statement, struct diag *diag);

/* Runs each statement of SQL, which give no rows and write to temporary tables alone: an
 * error is one of reading. */
int statement_run_all(struct db *db, const char *sql, struct diag *diag);

/* Steps to the next row: 1, or 0 at the end, or a negative errno value. */
int statement_next(struct db *db, struct sqlite3_stmt *statement, struct diag *diag);

/* Both: *STATEMENT is at the first row of SQL where the result is 1. The caller finalizes
 * it in any case; columns of what is not at a row are NULL. */
int statement_first(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                    struct diag *diag);

/* Takes a row of a statement: 0 or -ENOMEM. */
typedef int statement_take(void *context, struct sqlite3_stmt *row);

/* Hands each row that SQL gives to TAKE, until it has no memory. */
int statement_each(struct db *db, const char *sql, statement_take *take, void *context,
                   struct diag *diag);

/* What SQL gives in the first column of its first row; 0 where it has none. */
int statement_number(struct db *db, const char *sql, int64_t *number, struct diag *diag);

/* Column I as text: valid until the next step, and "" for NULL, which a damaged file
 * may have in any column. */
const char *statement_text(struct sqlite3_stmt *statement, int i);

/* Column I as text fit for a terminal, which the caller frees; NULL for NULL. */
char *statement_printable(struct sqlite3_stmt *statement, int i);

/* Binds VALUE, or NULL when it is NAN. */
void statement_bind_real(struct sqlite3_stmt *statement, int index, double value);

#endif
