/* SPDX-License-Identifier: MIT */
/* Brings databases of older versions up to date. What was recorded stays as it is; names
 * and findings, which other stages can make again, are dropped with their tables. The
 * shape that a database is to have is read from a new one in memory, so that it stands in
 * schema.sql alone. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "db_internal.h"
#include "memlag_schema_sql.h"

/* In version 1 names stood in each location. */
static const char from_1_to_2[] =
    "DROP TABLE IF EXISTS location; DROP TABLE IF EXISTS inline_frame;"
    "DROP TABLE IF EXISTS stack_location; DROP TABLE IF EXISTS data_object;"
    "DROP TABLE IF EXISTS object_stack; DROP TABLE IF EXISTS data_type;"
    "DROP TABLE IF EXISTS type_field; DROP TABLE IF EXISTS attribution;"
    "DROP TABLE IF EXISTS resolution; DROP TABLE IF EXISTS name_source;"
    "DROP TABLE IF EXISTS threshold; DROP TABLE IF EXISTS interval;"
    "DROP TABLE IF EXISTS line_finding; DROP TABLE IF EXISTS function_finding;"
    "DROP TABLE IF EXISTS object_finding; DROP TABLE IF EXISTS field_finding;"
    "DROP TABLE IF EXISTS line_object_finding; DROP TABLE IF EXISTS caller_finding;"
    "DELETE FROM ledger WHERE stage IN ('symbolize', 'analysis');"
    "PRAGMA user_version = 2;";

/* The columns of the table or view ?1, NULL where there is none. */
static const char columns_sql[] =
    "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' || pk, ',')"
    " FROM pragma_table_info(?1)";

/* Puts the columns of NAME into COLUMNS, a text of SQLite's; NULL: there is none. Returns
 * SQLite's result. */
static int read_columns(sqlite3 *sqlite, const char *name, char **columns)
{
        sqlite3_stmt *row = NULL;
        *columns = NULL;
        int rc = sqlite3_prepare_v2(sqlite, columns_sql, -1, &row, NULL);
        if (rc)
                return rc;
        sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0)) {
                *columns =
                    sqlite3_mprintf("%s", (const char *)sqlite3_column_text(row, 0));
                if (!*columns)
                        rc = SQLITE_NOMEM;
        }
        int end = sqlite3_finalize(row);
        return rc ? rc : end;
}

static int of_another_shape(const struct db *db, int64_t version, const char *name,
                            struct diag *diag)
{
        return diag_set(diag, -EPROTO,
                        "%s is of an early memlag (schema version %" PRId64
                        ") whose '%s' was another: record again",
                        db->path, version, name);
}

/* Has DB hold the table or view NAME as MODEL does: made by SQL where it lacks. */
static int bring(struct db *db, int64_t version, sqlite3 *model, const char *name,
                 const char *sql, struct diag *diag)
{
        char *wanted, *present = NULL;
        int rc = read_columns(model, name, &wanted);
        if (!rc)
                rc = read_columns(db->sqlite, name, &present);
        int code = 0;
        if (rc)
                code = diag_set(diag, db_errno(rc), "cannot bring %s up to date: %s",
                                db->path, sqlite3_errstr(rc));
        else if (!present)
                code = db_exec(db, sql, diag);
        else if (!wanted || strcmp(wanted, present) != 0)
                code = of_another_shape(db, version, name, diag);
        sqlite3_free(wanted);
        sqlite3_free(present);
        return code;
}

/* All that MODEL has, in the order in which it was made. */
static int bring_all(struct db *db, int64_t version, sqlite3 *model, struct diag *diag)
{
        sqlite3_stmt *rows = NULL;
        int code = 0, rc = sqlite3_prepare_v2(model,
                                              "SELECT name, sql FROM sqlite_schema"
                                              " WHERE sql IS NOT NULL ORDER BY rowid",
                                              -1, &rows, NULL);
        while (!rc && !code && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                code =
                    bring(db, version, model, (const char *)sqlite3_column_text(rows, 0),
                          (const char *)sqlite3_column_text(rows, 1), diag);
                rc = SQLITE_OK;
        }
        sqlite3_finalize(rows);
        if (!code && rc != SQLITE_DONE)
                code = diag_set(diag, db_errno(rc), "cannot bring %s up to date: %s",
                                db->path, sqlite3_errstr(rc));
        return code;
}

static int migrate(struct db *db, int64_t version, sqlite3 *model, struct diag *diag)
{
        int code = db_exec(db, "BEGIN IMMEDIATE", diag);
        if (code)
                return code;
        code = db_exec(db, from_1_to_2, diag);
        if (!code)
                code = bring_all(db, version, model, diag);
        if (!code)
                code = db_exec(db, "COMMIT", diag);
        if (code && !sqlite3_get_autocommit(db->sqlite))
                sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
        return code;
}

int db_migrate(struct db *db, int64_t version, struct diag *diag)
{
        sqlite3 *model = NULL;
        int rc = sqlite3_open(":memory:", &model);
        if (!rc)
                rc = sqlite3_exec(model, memlag_schema_sql, NULL, NULL, NULL);
        int code = rc ? diag_set(diag, db_errno(rc), "cannot bring %s up to date: %s",
                                 db->path, sqlite3_errstr(rc))
                      : migrate(db, version, model, diag);
        sqlite3_close(model);
        return code;
}
