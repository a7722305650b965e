/* SPDX-License-Identifier: MIT */
/* Whether a database is whole. SQLite notices damage only in what it happens to read. */
#include "db_internal.h"

#include <errno.h>
#include <sqlite3.h>

/* The samples are most of a file: who writes reads them all in the same transaction,
 * which is rolled back when it cannot. */
static const char check_sql[] =
    "SELECT 1 FROM sqlite_schema AS t, pragma_quick_check(t.name) AS c"
    " WHERE t.type = 'table' AND t.name <> 'sample' AND t.name NOT LIKE 'sqlite%'"
    " AND c.quick_check <> 'ok'";

int db_check(struct db *db, struct diag *diag)
{
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
