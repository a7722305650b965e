/* SPDX-License-Identifier: MIT */
/* Runs SQL that somebody typed, without letting it change anything. */
#ifndef MEMLAG_QUERY_H
#define MEMLAG_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "render.h"

/* What statements may take; 0: as much as there is. */
struct query_limits {
        int64_t seconds;
        int64_t memory_bytes;
};

/* Runs the statements of SQL, which stops at the first error, and prints their
 * results: tables and CSV with an empty line between them, JSON as one array a
 * line. WIDTH as in render_begin. *LACKS_FINDINGS: whether they read findings, and there
 * are none, since `memlag analyze` has not made them, or `memlag symbolize` has taken
 * them away. DIAG gets SQLite's message; errors in the text are shown on stderr under the
 * line that they are in, with a caret. -ENODATA: SQL has no statement. */
int query_run(struct db *db, const char *sql, const struct query_limits *limits,
              enum format format, FILE *out, size_t width, bool *lacks_findings,
              struct diag *diag);

#endif
