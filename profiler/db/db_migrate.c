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

/* Until version 8 each node of the calling-context tree and each allocation site was a
 * row, and objects' stacks had no separate totals. legacy_alter_table keeps views, also
 * the user's, referring to the same names. */
#define ROWS_UNTIL_8                                                                     \
        "PRAGMA legacy_alter_table = ON;"                                                \
        "ALTER TABLE stack RENAME TO stack_node;"                                        \
        "ALTER TABLE allocation_total RENAME TO allocation_site;"                        \
        "PRAGMA legacy_alter_table = OFF;"                                               \
        "ALTER TABLE object_stack ADD COLUMN allocations INTEGER;"                       \
        "ALTER TABLE object_stack ADD COLUMN total_bytes INTEGER;"                       \
        "ALTER TABLE object_stack ADD COLUMN peak_bytes INTEGER;"
#define LOCATIONS_UNTIL_8                                                                \
        "PRAGMA legacy_alter_table = ON;"                                                \
        "ALTER TABLE stack_location RENAME TO node_location;"                            \
        "PRAGMA legacy_alter_table = OFF;"

/* In version 1 names stood in each location. Views, also the user's, go on to mean tables
 * by their names: legacy_alter_table leaves them alone. */
static const char put_aside_1[] = "PRAGMA legacy_alter_table = ON;"
                                  "ALTER TABLE location RENAME TO location_1;"
                                  "ALTER TABLE inline_frame RENAME TO inline_frame_1;"
                                  "ALTER TABLE stack_location RENAME TO stack_location_1;"
                                  "ALTER TABLE attribution RENAME TO attribution_1;"
                                  "PRAGMA legacy_alter_table = OFF;" ROWS_UNTIL_8;

static const char take_over_1[] =
    "INSERT INTO name (text)"
    " SELECT function FROM location_1 WHERE function IS NOT NULL"
    " UNION SELECT file FROM location_1 WHERE file IS NOT NULL"
    " UNION SELECT function FROM inline_frame_1 WHERE function IS NOT NULL"
    " UNION SELECT call_file FROM inline_frame_1 WHERE call_file IS NOT NULL;"
    "CREATE UNIQUE INDEX name_of_text ON name (text);"
    "INSERT INTO code_location"
    " SELECT location_id, module_id, address_offset,"
    " (SELECT name_id FROM name WHERE text = function),"
    " (SELECT name_id FROM name WHERE text = file), line FROM location_1;"
    "INSERT INTO code_frame"
    " SELECT location_id, depth, (SELECT name_id FROM name WHERE text = function),"
    " (SELECT name_id FROM name WHERE text = call_file), call_line FROM inline_frame_1;"
    "DROP INDEX name_of_text;"
    "INSERT INTO node_location SELECT * FROM stack_location_1;"
    "INSERT INTO attribution SELECT *, NULL, NULL FROM attribution_1;"
    "DROP TABLE location_1; DROP TABLE inline_frame_1; DROP TABLE stack_location_1;"
    "DROP TABLE attribution_1;";

/* Until version 4 the start addresses of unnamed functions were not stored. */
#define DROP_LOCATION "DROP VIEW IF EXISTS location;"

/* Until version 7 the source of a sample's type was not stored. */
#define TYPE_SOURCES                                                                     \
        "ALTER TABLE attribution ADD COLUMN type_source_id INTEGER REFERENCES "          \
        "type_source;"

/* Version 2 did not store why a sample has no type; older names lack the reason. */
static const char put_aside_2[] =
    "ALTER TABLE attribution ADD COLUMN untyped_id INTEGER "
    "REFERENCES untyped;" TYPE_SOURCES DROP_LOCATION ROWS_UNTIL_8 LOCATIONS_UNTIL_8;

/* Early in version 5, as before, samples had no latency of retirement. */
static const char add_to_samples[] =
    "ALTER TABLE sample ADD COLUMN retire_latency_cycles INTEGER;";

/* New tables by version. Version 3 lacked reasons for locations without a line or
 * function. Version 4 lacked files without a build-id.
 *
 * Early version 5 lacked the first requester of a line, loads per pair of fields,
 * padding of types, and frames of other threads. Early version 6 lacked the text of
 * instructions.
 *
 * Until version 6 findings had no DRAM samples for unknown levels. */
static const char put_aside_3[] =
    TYPE_SOURCES DROP_LOCATION ROWS_UNTIL_8 LOCATIONS_UNTIL_8;

static const char put_aside_7[] = DROP_LOCATION ROWS_UNTIL_8 LOCATIONS_UNTIL_8;

static const char *const put_aside[DB_SCHEMA_VERSION + 1] = {
    [1] = put_aside_1, [2] = put_aside_2,   [3] = put_aside_3,
    [4] = put_aside_3, [5] = put_aside_3,   [6] = put_aside_3,
    [7] = put_aside_7, [8] = DROP_LOCATION, [9] = DROP_LOCATION};

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

static const char has_retirement[] = "SELECT 1 FROM pragma_table_info('sample')"
                                     " WHERE name = 'retire_latency_cycles'";

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
        bool has = false;
        int rc = gives_row(db, has_retirement, &has);
        if (rc)
                return cannot_bring(db, rc, diag);
        int code = db_exec(db, drop_views, diag);
        if (!code)
                code = db_exec(db, drop_findings, diag);
        if (!code && version == DB_SCHEMA_VERSION)
                code = drop_schema_views(db, model, diag);
        if (!code && put_aside[version])
                code = db_exec(db, put_aside[version], diag);
        if (!code && !has)
                code = db_exec(db, add_to_samples, diag);
        if (!code)
                code = bring_all(db, version, model, diag);
        if (!code && version == 1)
                code = db_exec(db, take_over_1, diag);
        return code ? code : db_exec(db, present_version, diag);
}

/* Some databases with version 1 have names as in version 2: there the table of locations
 * is a view. */
static const char second_in_truth[] =
    "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'location'";

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
        bool second = false;
        int rc = *version == 1 ? gives_row(db, second_in_truth, &second) : SQLITE_OK;
        if (second)
                *version = 2;
        return rc ? cannot_bring(db, rc, diag) : 0;
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
