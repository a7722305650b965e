/* SPDX-License-Identifier: MIT */
/* Checks the definitions in an untrusted database: SQL that SQLite would run when rows
 * are read or written. Reads sqlite_schema, and no row. */
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "db_internal.h"
#include "memlag_schema_sql.h"

/* The names without case, as SQLite compares them. */
static const char definitions_sql[] =
    "SELECT type, lower(name), sql FROM sqlite_schema WHERE sql IS NOT NULL";

enum { TYPE, NAME, SQL };

/* Returns true if SQL, as SQLite stores it, equals a statement of TEXT word for word. */
static bool is_statement_of(const char *text, const char *sql)
{
        const char *made = strstr(text, sql);
        return made && made[strlen(sql)] == ';';
}

/* Returns true if TEXT creates a TYPE, "TABLE" or "VIEW", of this name. */
static bool makes(const char *text, const char *type, const char *name)
{
        char *start = sqlite3_mprintf("\nCREATE %s %s (", type, name);
        bool found = start && strstr(text, start);
        sqlite3_free(start);
        return found;
}

/* ---- tables and indices ---- */

/* Sets *GIVES if QUERY returns a row for NAME. Returns SQLite's result. */
static int gives_row(struct db *db, const char *query, const char *name, bool *gives)
{
        sqlite3_stmt *statement = NULL;
        int rc = sqlite3_prepare_v2(db->sqlite, query, -1, &statement, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                *gives = sqlite3_step(statement) == SQLITE_ROW;
        int end = sqlite3_finalize(statement);
        return rc ? rc : end;
}

/* Stores the kind of expression that SQLite would evaluate for the table or index of ROW
 * in *WORKED_OUT; NULL: none. Returns SQLite's result. */
static int find_expression(struct db *db, sqlite3_stmt *row, const char **worked_out)
{
        static const char columns[] = "SELECT 1 FROM pragma_table_xinfo(?1)"
                                      " WHERE hidden <> 0 OR dflt_value LIKE '%(%'";
        static const char terms[] =
            "SELECT 1 FROM pragma_index_xinfo(?1) WHERE cid = -2 UNION ALL"
            " SELECT 1 FROM sqlite_schema AS s, pragma_index_list(s.tbl_name) AS l"
            " WHERE s.type = 'index' AND lower(s.name) = ?1 AND l.name = s.name"
            " AND l.partial";
        const char *name = (const char *)sqlite3_column_text(row, NAME);
        const char *sql = (const char *)sqlite3_column_text(row, SQL);
        bool is_table =
            strcmp((const char *)sqlite3_column_text(row, TYPE), "table") == 0;
        bool found = false;
        if (is_table && sqlite3_strnicmp(sql, "CREATE VIRTUAL", 14) == 0) {
                *worked_out = "is virtual";
                return SQLITE_OK;
        }
        int rc = gives_row(db, is_table ? columns : terms, name, &found);
        if (found)
                *worked_out = is_table ? "has columns that are worked out"
                                       : "is of values that are worked out";
        return rc;
}

static bool is_type(sqlite3_stmt *row, const char *type)
{
        return strcmp((const char *)sqlite3_column_text(row, TYPE), type) == 0;
}

static int refuse(const struct db *db, sqlite3_stmt *row, const char *fault,
                  struct diag *diag)
{
        return diag_set(diag, -EPERM,
                        "cannot read %s: somebody changed it, its %s '%.100s' %s; record "
                        "again, or remove that with sqlite3",
                        db->path, (const char *)sqlite3_column_text(row, TYPE),
                        (const char *)sqlite3_column_text(row, NAME), fault);
}

/* *OURS: whether this memlag made the table of ROW. */
static int check_row(struct db *db, sqlite3_stmt *row, bool *ours, struct diag *diag)
{
        const char *name = (const char *)sqlite3_column_text(row, NAME);
        const char *fault = NULL;
        int rc = SQLITE_OK;
        if (!name || !sqlite3_column_text(row, SQL) || !sqlite3_column_text(row, TYPE))
                return diag_set(diag, -EBADMSG, "cannot read %s: " DB_DAMAGED_TEXT,
                                db->path);
        bool is_table = is_type(row, "table");
        if (is_type(row, "view") && makes(memlag_schema_sql, "TABLE", name))
                fault = "is no table";
        else if ((is_table || is_type(row, "index")) &&
                 !is_statement_of(memlag_schema_sql,
                                  (const char *)sqlite3_column_text(row, SQL))) {
                *ours = false;
                rc = find_expression(db, row, &fault);
        }
        if (rc)
                return db_error(db, "read", diag);
        return fault ? refuse(db, row, fault, diag) : 0;
}

int db_check_definitions(struct db *db, struct diag *diag)
{
        sqlite3_stmt *rows = NULL;
        bool ours = true;
        int code = 0;
        int rc = sqlite3_prepare_v2(db->sqlite, definitions_sql, -1, &rows, NULL);
        while (!rc && !code && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                code = check_row(db, rows, &ours, diag);
                rc = SQLITE_OK;
        }
        if (!code && rc != SQLITE_DONE)
                code = db_error(db, "read", diag);
        sqlite3_finalize(rows);
        if (!code && !ours &&
            sqlite3_exec(db->sqlite, "PRAGMA ignore_check_constraints = 1", NULL, NULL,
                         NULL))
                code = db_error(db, "read", diag);
        return code;
}

/* ---- views ---- */

int db_views_are_ours(struct db *db, const char *sql, bool *are, struct diag *diag)
{
        sqlite3_stmt *rows = NULL;
        int rc = sqlite3_prepare_v2(db->sqlite, definitions_sql, -1, &rows, NULL);
        *are = true;
        while (!rc && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                const char *name = (const char *)sqlite3_column_text(rows, NAME);
                const char *made = (const char *)sqlite3_column_text(rows, SQL);
                rc = SQLITE_OK;
                if (!is_type(rows, "view") || !name || !made)
                        continue;
                if ((makes(sql, "VIEW", name) && !is_statement_of(sql, made)) ||
                    (makes(memlag_schema_sql, "VIEW", name) &&
                     !is_statement_of(memlag_schema_sql, made)))
                        *are = false;
        }
        sqlite3_finalize(rows);
        return rc == SQLITE_DONE ? 0 : db_error(db, "read", diag);
}
