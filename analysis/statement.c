/* SPDX-License-Identifier: MIT */
/* Small helpers over SQLite's statements. Knows no table. */
#include "statement.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "text.h"

/* Whether the latest error is about a view that is missing, or older than its tables: not
 * about a missing table. */
static bool is_of_a_view(struct db *db)
{
        const char *message = sqlite3_errmsg(db_sqlite(db));
        return sqlite3_errcode(db_sqlite(db)) == SQLITE_ERROR &&
               (strncmp(message, "no such table: ", 15) != 0 || strstr(message, "_view"));
}

/* Like statement_prepare; *REST gets the text after the first statement of SQL. */
static int prepare_first(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                         const char **rest, struct diag *diag)
{
        sqlite3 *sqlite = db_sqlite(db);
        if (sqlite3_prepare_v2(sqlite, sql, -1, statement, rest) == SQLITE_OK)
                return 0;
        if (sqlite3_db_readonly(sqlite, "main") && is_of_a_view(db))
                return diag_set(diag, -EINVAL,
                                "cannot read %s: %s; make its views anew with 'memlag "
                                "analyze'",
                                sqlite3_db_filename(sqlite, "main"),
                                sqlite3_errmsg(sqlite));
        return db_error(db, "read", diag);
}

int statement_prepare(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                      struct diag *diag)
{
        return prepare_first(db, sql, statement, NULL, diag);
}

int statement_next(struct db *db, struct sqlite3_stmt *statement, struct diag *diag)
{
        switch (sqlite3_step(statement)) {
        case SQLITE_ROW:
                return 1;
        case SQLITE_DONE:
                return 0;
        default:
                return db_error(db, "read", diag);
        }
}

int statement_first(struct db *db, const char *sql, sqlite3_stmt **statement,
                    struct diag *diag)
{
        int code = statement_prepare(db, sql, statement, diag);
        return code ? code : statement_next(db, *statement, diag);
}

int statement_run(struct db *db, struct sqlite3_stmt *statement, struct diag *diag)
{
        int code = statement_next(db, statement, diag);
        sqlite3_reset(statement);
        return code < 0 ? code : 0;
}

int statement_run_all(struct db *db, const char *sql, struct diag *diag)
{
        int code = 0;
        while (!code && *sql) {
                sqlite3_stmt *statement;
                code = prepare_first(db, sql, &statement, &sql, diag);
                if (!code)
                        code = statement_run(db, statement, diag);
                sqlite3_finalize(statement);
        }
        return code;
}

int statement_each(struct db *db, const char *sql, statement_take *take, void *context,
                   struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(db, sql, &rows, diag);
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0)
                if ((code = take(context, rows)) < 0)
                        diag_no_memory(diag);
        sqlite3_finalize(rows);
        return code;
}

int statement_number(struct db *db, const char *sql, int64_t *number, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = statement_first(db, sql, &statement, diag);
        *number = code > 0 ? sqlite3_column_int64(statement, 0) : 0;
        sqlite3_finalize(statement);
        return code < 0 ? code : 0;
}

const char *statement_text(struct sqlite3_stmt *statement, int i)
{
        const char *text = (const char *)sqlite3_column_text(statement, i);
        return text ? text : "";
}

char *statement_printable(sqlite3_stmt *statement, int i)
{
        const char *text = (const char *)sqlite3_column_text(statement, i);
        size_t bytes = text ? (size_t)sqlite3_column_bytes(statement, i) : 0;
        /* No real name is longer, but the database may be malicious. */
        return text ? text_printable(text,
                                     bytes < TEXT_SHOWN_BYTES ? bytes : TEXT_SHOWN_BYTES)
                    : NULL;
}

void statement_bind_real(struct sqlite3_stmt *statement, int index, double value)
{
        if (isnan(value))
                sqlite3_bind_null(statement, index);
        else
                sqlite3_bind_double(statement, index, value);
}
