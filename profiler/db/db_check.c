/* SPDX-License-Identifier: MIT */
/* Checks that a database is intact, and has all recorded tables. SQLite notices damage
 * only in the pages that it happens to read. */
#include "db_internal.h"

#include <errno.h>
#include <sqlite3.h>

/* Samples are most of a file. A writer reads them all in the same transaction, which is
 * rolled back on a read error. */
static const char check_sql[] =
    "SELECT 1 FROM sqlite_schema AS t, pragma_quick_check(t.name) AS c"
    " WHERE t.type = 'table' AND t.name <> 'sample' AND t.name NOT LIKE 'sqlite%'"
    " AND c.quick_check <> 'ok'";

/* The tables of raw rows. A dropped table must not be recreated empty, unlike the two
 * that version 8 lacked: the results would not match the recording. */
static const char missing_sql[] =
    "WITH raw (name) AS (VALUES ('run'), ('machine'), ('process'), ('thread'), "
    "('module'),"
    " ('mapping'), ('data_source'), ('sample'), ('counter'), ('reading'), ('allocation'),"
    " ('ledger'), ('stack_access'), ('sample_page'), ('thread_pointer'), ('module_file'),"
    " ('other_stack_access'), ('stack_node'), ('stack_pack'), ('allocation_site'),"
    " ('allocation_pack'), ('page_fault'), ('set_conflict')) "
    "SELECT group_concat(name, ', ') FROM raw"
    " WHERE NOT (name IN ('page_fault', 'set_conflict')"
    "  AND (SELECT user_version FROM pragma_user_version) = 8)"
    " AND name NOT IN (SELECT name FROM sqlite_schema WHERE type = 'table')"
    " HAVING count(*) > 0";

/* memlag makes no triggers. They do not run here, but may have changed recorded data. */
static const char triggers_sql[] =
    "SELECT group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema"
    " WHERE type = 'trigger' ORDER BY name) HAVING count(*) > 0";

static int check_triggers(struct db *db, struct diag *diag)
{
        sqlite3_stmt *triggers;
        int rc = sqlite3_prepare_v2(db->sqlite, triggers_sql, -1, &triggers, NULL);
        if (!rc)
                rc = sqlite3_step(triggers);
        int code =
            rc == SQLITE_DONE ? 0
            : rc == SQLITE_ROW
                ? diag_set(diag, -EBADMSG,
                           "cannot write %s: somebody added triggers (%s), which may "
                           "change what was recorded; take the file from a copy, or "
                           "remove them with sqlite3's DROP TRIGGER",
                           db->path, (const char *)sqlite3_column_text(triggers, 0))
                : db_error(db, "read", diag);
        sqlite3_finalize(triggers);
        return code;
}

static int check_tables(struct db *db, struct diag *diag)
{
        sqlite3_stmt *missing;
        int rc = sqlite3_prepare_v2(db->sqlite, missing_sql, -1, &missing, NULL);
        if (!rc)
                rc = sqlite3_step(missing);
        int code =
            rc == SQLITE_DONE ? 0
            : rc == SQLITE_ROW
                ? diag_set(diag, -EBADMSG,
                           "cannot write %s: of what was recorded the table %s is gone; "
                           "take the file from a copy, or record again",
                           db->path, (const char *)sqlite3_column_text(missing, 0))
                : db_error(db, "read", diag);
        sqlite3_finalize(missing);
        return code;
}

int db_check(struct db *db, struct diag *diag)
{
        int other = check_tables(db, diag);
        if (!other)
                other = check_triggers(db, diag);
        if (other)
                return other;
        sqlite3_stmt *fault;
        int rc = sqlite3_prepare_v2(db->sqlite, check_sql, -1, &fault, NULL);
        if (!rc)
                rc = sqlite3_step(fault);
        int code =
            rc == SQLITE_DONE ? 0
            : rc == SQLITE_ROW
                ? diag_set(diag, -EBADMSG, "cannot write %s: " DB_DAMAGED_TEXT, db->path)
                : db_error(db, "read", diag);
        sqlite3_finalize(fault);
        return code;
}
