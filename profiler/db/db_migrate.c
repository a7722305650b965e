/* SPDX-License-Identifier: MIT */
/* Migrates older databases, and recreates missing tables of current databases. Recorded
 * and symbolized data stays. Findings are dropped with their tables and views, because
 * analysis recreates them. The target schema is read from a new database in memory; only
 * schema.sql defines it. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "db_internal.h"
#include "memlag_schema_sql.h"

/* Version 8 lacked page faults, set conflicts and the findings with both. */
static const char drop_findings[] =
    "DROP TABLE IF EXISTS threshold; DROP TABLE IF EXISTS interval;"
    "DROP TABLE IF EXISTS line_finding; DROP TABLE IF EXISTS function_finding;"
    "DROP TABLE IF EXISTS object_finding; DROP TABLE IF EXISTS field_finding;"
    "DROP TABLE IF EXISTS line_object_finding; DROP TABLE IF EXISTS caller_finding;"
    "DROP TABLE IF EXISTS allocation_finding;"
    "DROP TABLE IF EXISTS line_asker_finding; DROP TABLE IF EXISTS gain_finding;"
    "DROP TABLE IF EXISTS line_clock_finding; DROP TABLE IF EXISTS "
    "function_clock_finding;"
    "DROP TABLE IF EXISTS object_clock_finding;"
    "DROP TABLE IF EXISTS clock_agreement_finding; DROP TABLE IF EXISTS "
    "certainty_finding;"
    "DROP TABLE IF EXISTS object_gain_finding; DROP TABLE IF EXISTS prefetch_finding;"
    "DELETE FROM ledger WHERE stage = 'analysis';";

/* The views of analysis/views.sql, which analysis recreates with the findings. Old views
 * would show no findings, or lack a column. */
static const char drop_views[] =
    "DROP VIEW IF EXISTS run_info; DROP VIEW IF EXISTS sample_view;"
    "DROP VIEW IF EXISTS interval_view; DROP VIEW IF EXISTS line_view;"
    "DROP VIEW IF EXISTS object_view; DROP VIEW IF EXISTS line_object_view;"
    "DROP VIEW IF EXISTS line_asker_view; DROP VIEW IF EXISTS phase_view;"
    "DROP VIEW IF EXISTS caller_view; DROP VIEW IF EXISTS allocation_view;"
    "DROP VIEW IF EXISTS type_view; DROP VIEW IF EXISTS stall_view;"
    "DROP VIEW IF EXISTS utilisation_view; DROP VIEW IF EXISTS phase_interval_view;"
    "DROP VIEW IF EXISTS phase_limit_view; DROP VIEW IF EXISTS calibration_view;"
    "DROP VIEW IF EXISTS unresolved_view; DROP VIEW IF EXISTS process_view;"
    "DROP VIEW IF EXISTS library_view; DROP VIEW IF EXISTS gain_view;"
    "DROP VIEW IF EXISTS line_gain_view; DROP VIEW IF EXISTS function_view;"
    "DROP VIEW IF EXISTS line_measured_view; DROP VIEW IF EXISTS sharing_view;"
    "DROP VIEW IF EXISTS sharing_pair_view; DROP VIEW IF EXISTS line_use_view;"
    "DROP VIEW IF EXISTS object_gain_view; DROP VIEW IF EXISTS prefetch_view;"
    "DROP VIEW IF EXISTS field_use_view; DROP VIEW IF EXISTS working_set_view;";

static const char present_version[] = "PRAGMA user_version = 9;";

/* The columns of the table or view ?1; NULL: it does not exist. */
static const char columns_sql[] =
    "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' || pk, ',')"
    " FROM pragma_table_info(?1)";

/* Stores the columns of NAME in COLUMNS, a text of SQLite's; NULL: it does not exist.
 * Returns SQLite's result. */
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

/* The columns of NAME in MODEL and in DB, as read_columns has them; sqlite3_free both in
 * either case. Returns SQLite's result. */
static int read_shapes(const struct db *db, sqlite3 *model, const char *name,
                       char **wanted, char **present)
{
        *present = NULL;
        int rc = read_columns(model, name, wanted);
        return rc ? rc : read_columns(db->sqlite, name, present);
}

/* RC: SQLite's result. */
static int cannot_bring(const struct db *db, int rc, struct diag *diag)
{
        return diag_set(diag, db_errno(rc), "cannot bring %s up to date: %s", db->path,
                        sqlite3_errstr(rc));
}

static int of_another_shape(const struct db *db, int64_t version, const char *name,
                            struct diag *diag)
{
        return diag_set(diag, -EPROTO,
                        "%s is of an early memlag (schema version %" PRId64
                        ") whose '%s' was another: record again",
                        db->path, version, name);
}

/* Creates the table or view NAME from MODEL in DB if it is missing. In a current
 * database, a different definition is the user's, and stays. */
static int bring(struct db *db, int64_t version, sqlite3 *model, const char *name,
                 const char *sql, struct diag *diag)
{
        char *wanted, *present;
        int rc = read_shapes(db, model, name, &wanted, &present);
        int code = 0;
        if (rc)
                code = cannot_bring(db, rc, diag);
        else if (!present)
                code = db_exec(db, sql, diag);
        else if (version < DB_SCHEMA_VERSION && (!wanted || strcmp(wanted, present) != 0))
                code = of_another_shape(db, version, name, diag);
        sqlite3_free(wanted);
        sqlite3_free(present);
        return code;
}

/* Copies all objects of MODEL, in creation order. */
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
                code = cannot_bring(db, rc, diag);
        return code;
}

/* Returns true for findings and views: analysis recreates them, and replacing them loses
 * nothing. */
static bool is_derived(const char *name)
{
        size_t length = strlen(name);
        return (length > 8 && strcmp(name + length - 8, "_finding") == 0) ||
               strcmp(name, "threshold") == 0 || strcmp(name, "interval") == 0 ||
               strcmp(name, "location") == 0;
}

/* Checks whether the table or view NAME is missing in DB, or is derived and has another
 * definition. Returns SQLite's result. */
static int is_outdated(struct db *db, sqlite3 *model, const char *name, bool *outdated)
{
        char *wanted, *present;
        int rc = read_shapes(db, model, name, &wanted, &present);
        if (!rc && wanted)
                *outdated =
                    !present || (is_derived(name) && strcmp(wanted, present) != 0);
        sqlite3_free(wanted);
        sqlite3_free(present);
        return rc;
}

/* Sets *GIVES if SQL returns a row. Returns SQLite's result. */
static int gives_row(struct db *db, const char *sql, bool *gives)
{
        sqlite3_stmt *row = NULL;
        int rc = sqlite3_prepare_v2(db->sqlite, sql, -1, &row, NULL);
        if (rc)
                return rc;
        *gives = sqlite3_step(row) == SQLITE_ROW;
        return sqlite3_finalize(row);
}

/* Checks whether DB, of the current version, lacks an object that can be recreated:
 * somebody dropped or changed it. */
static int is_incomplete(struct db *db, sqlite3 *model, bool *incomplete,
                         struct diag *diag)
{
        sqlite3_stmt *names = NULL;
        *incomplete = false;
        int rc = sqlite3_prepare_v2(model,
                                    "SELECT name FROM sqlite_schema WHERE type IN"
                                    " ('table', 'view') ORDER BY rowid",
                                    -1, &names, NULL);
        while (!rc && !*incomplete && (rc = sqlite3_step(names)) == SQLITE_ROW)
                rc = is_outdated(db, model, (const char *)sqlite3_column_text(names, 0),
                                 incomplete);
        sqlite3_finalize(names);
        if (rc && rc != SQLITE_DONE)
                return cannot_bring(db, rc, diag);
        bool ours = true;
        int code = *incomplete ? 0 : db_views_are_ours(db, "", &ours, diag);
        *incomplete |= !ours;
        return code;
}

/* Views of MODEL that are views in DB: they are made again. */
static int drop_schema_views(struct db *db, sqlite3 *model, struct diag *diag)
{
        sqlite3_stmt *names = NULL;
        int code = 0;
        int rc = sqlite3_prepare_v2(model,
                                    "SELECT name FROM sqlite_schema WHERE type = 'view'",
                                    -1, &names, NULL);
        while (!rc && !code && (rc = sqlite3_step(names)) == SQLITE_ROW) {
                bool is_view = false;
                char *look = sqlite3_mprintf("SELECT 1 FROM sqlite_schema WHERE type = "
                                             "'view' AND name = %Q COLLATE NOCASE",
                                             sqlite3_column_text(names, 0));
                char *drop =
                    sqlite3_mprintf("DROP VIEW %w", sqlite3_column_text(names, 0));
                rc = look && drop ? gives_row(db, look, &is_view) : SQLITE_NOMEM;
                if (!rc && is_view)
                        code = db_exec(db, drop, diag);
                sqlite3_free(look);
                sqlite3_free(drop);
        }
        sqlite3_finalize(names);
        return code || rc == SQLITE_DONE || !rc ? code : cannot_bring(db, rc, diag);
}

/* Migrates in a separate transaction. */
static int migrate(struct db *db, int64_t version, sqlite3 *model, struct diag *diag)
{
        int code = db_exec(db, drop_views, diag);
        if (!code)
                code = db_exec(db, drop_findings, diag);
        if (!code)
                code = drop_schema_views(db, model, diag);
        if (!code)
                code = bring_all(db, version, model, diag);
        return code ? code : db_exec(db, present_version, diag);
}

/* Checks whether DB must be migrated; VERSION receives its version. */
static int is_to_migrate(struct db *db, sqlite3 *model, int64_t *version, bool *wanted,
                         struct diag *diag)
{
        *wanted = false;
        int code = db_read_version(db, version, diag);
        if (code)
                return code;
        if (*version == DB_SCHEMA_VERSION)
                return is_incomplete(db, model, wanted, diag);
        *wanted = true;
        return 0;
}

/* Another process may have done it since it was found to be wanted. */
static int migrate_if_wanted(struct db *db, sqlite3 *model, struct diag *diag)
{
        int64_t version = 0;
        bool wanted = false;
        int code = is_to_migrate(db, model, &version, &wanted, diag);
        if (code || !wanted)
                return code;
        code = db_exec(db, "BEGIN IMMEDIATE", diag);
        if (code)
                return code;
        code = is_to_migrate(db, model, &version, &wanted, diag);
        if (!code && wanted)
                code = migrate(db, version, model, diag);
        if (!code)
                code = db_exec(db, "COMMIT", diag);
        if (code && !sqlite3_get_autocommit(db->sqlite))
                sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
        return code;
}

/* How many statements of schema.sql make something; each begins a line. */
static int64_t count_made(void)
{
        int64_t count = 0;
        for (const char *at = memlag_schema_sql; (at = strstr(at, "\nCREATE ")) != NULL;
             at++)
                count++;
        return count;
}

/* Checks whether DB has all definitions of schema.sql, word for word, as SQLite stores
 * them. Further checks are then unnecessary. Returns SQLite's result. */
static int is_present(struct db *db, bool *present)
{
        sqlite3_stmt *rows = NULL;
        int64_t same = 0;
        int rc = sqlite3_prepare_v2(db->sqlite, "SELECT sql FROM sqlite_schema", -1,
                                    &rows, NULL);
        while (!rc && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                const char *sql = (const char *)sqlite3_column_text(rows, 0);
                const char *made = sql ? strstr(memlag_schema_sql, sql) : NULL;
                same += made && made[strlen(sql)] == ';';
                rc = SQLITE_OK;
        }
        sqlite3_finalize(rows);
        *present = same == count_made();
        return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int db_migrate(struct db *db, int64_t version, struct diag *diag)
{
        sqlite3 *model = NULL;
        bool present = false;
        int rc = is_present(db, &present);
        if (!rc && present && version == DB_SCHEMA_VERSION)
                return 0;
        if (!rc)
                rc = sqlite3_open(":memory:", &model);
        if (!rc)
                rc = sqlite3_exec(model, memlag_schema_sql, NULL, NULL, NULL);
        int code = rc ? cannot_bring(db, rc, diag) : migrate_if_wanted(db, model, diag);
        sqlite3_close(model);
        return code;
}
