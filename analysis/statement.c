/* SPDX-License-Identifier: MIT */
/* Small helpers over SQLite's statements. Knows no table. */
#include "statement.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>

#include "text.h"

int statement_error(struct db *db, struct diag *diag)
{
        static const struct {
                int rc;
                int code;
        } codes[] = {
            {SQLITE_FULL, -ENOSPC}, {SQLITE_NOMEM, -ENOMEM},
            {SQLITE_BUSY, -EBUSY},  {SQLITE_READONLY, -EROFS},
            {SQLITE_IOERR, -EIO},   {SQLITE_CORRUPT, -EBADMSG},
        };
        int rc = sqlite3_errcode(db_sqlite(db)) & 0xff;
        int code = -EINVAL;
        for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
                if (codes[i].rc == rc)
                        code = codes[i].code;
        const char *file = sqlite3_db_filename(db_sqlite(db), "main");
        return diag_set(diag, code, "%s: %s", file ? file : "database",
                        sqlite3_errmsg(db_sqlite(db)));
}

int statement_prepare(struct db *db, const char *sql, struct sqlite3_stmt **statement,
                      struct diag *diag)
{
        sqlite3 *sqlite = db_sqlite(db);
        int rc = sqlite3_prepare_v2(sqlite, sql, -1, statement, NULL);
        if (rc == SQLITE_OK)
                return 0;
        if (rc != SQLITE_ERROR)
                return statement_error(db, diag);
        /* No such table or column: analysis writes tables, and reports read views. */
        return diag_set(diag, -EINVAL, "%s: %s; %s", sqlite3_db_filename(sqlite, "main"),
                        sqlite3_errmsg(sqlite),
                        sqlite3_db_readonly(sqlite, "main")
                            ? "make its views anew with 'memlag analyze'"
                            : "another memlag made it: use that one, or record again");
}

int statement_next(struct db *db, struct sqlite3_stmt *statement, struct diag *diag)
{
        switch (sqlite3_step(statement)) {
        case SQLITE_ROW:
                return 1;
        case SQLITE_DONE:
                return 0;
        default:
                return statement_error(db, diag);
        }
}

int statement_run(struct db *db, struct sqlite3_stmt *statement, struct diag *diag)
{
        int code = statement_next(db, statement, diag);
        sqlite3_reset(statement);
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
        return text ? text_printable(text, (size_t)sqlite3_column_bytes(statement, i))
                    : NULL;
}

void statement_bind_real(struct sqlite3_stmt *statement, int index, double value)
{
        if (isnan(value))
                sqlite3_bind_null(statement, index);
        else
                sqlite3_bind_double(statement, index, value);
}
