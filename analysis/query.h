/* SPDX-License-Identifier: MIT */
/* Runs a user's SQL without letting it change anything. */
#ifndef MEMLAG_QUERY_H
#define MEMLAG_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "render.h"

/* Limits of statements; 0: unlimited. */
struct query_limits {
        int64_t seconds;
        int64_t memory_bytes;
};

/* Call this before a database is opened: a query that lacks memory then ends at once. */
void query_begin(void);

/* Runs the statements of SQL up to the first error, and prints their results. Tables and
 * CSV have an empty line between results; JSON has one array per line. WIDTH: see
 * render_begin. *LACKS_FINDINGS: the statements read findings, but `memlag analyze` has
 * not run, or `memlag symbolize` has removed them. DIAG gets SQLite's message; stderr
 * shows the erroneous line with a caret. Returns -ENODATA if SQL has no statement. */
int query_run(struct db *db, const char *sql, const struct query_limits *limits,
              enum format format, FILE *out, size_t width, bool *lacks_findings,
              struct diag *diag);

#endif
