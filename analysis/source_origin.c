/* SPDX-License-Identifier: MIT */
/* Checks one file of each module that has code from the source file. */
#include "source_origin.h"

#include <sqlite3.h>
#include <string.h>

#include "source_names.h"
#include "statement.h"

/* Number of modules to check; many may have code from one header. */
#define MODULES_LOOKED_AT "20"

static const char locations_sql[] =
    "WITH called AS (SELECT name_id FROM name WHERE text = ?1),"
    " place AS (SELECT module_id, address_offset FROM code_location"
    "  WHERE file_id IN (SELECT name_id FROM called)"
    " UNION ALL SELECT module_id, address_offset FROM code_frame JOIN code_location"
    "  USING (location_id) WHERE call_file_id IN (SELECT name_id FROM called)) "
    "SELECT s.path, max(p.address_offset) FROM place AS p JOIN name_source AS s"
    " USING (module_id) WHERE s.role IN ('file', 'debug')"
    " GROUP BY s.path LIMIT " MODULES_LOOKED_AT;

bool source_origin_is_known(struct db *db, const char *file, const struct stat *status)
{
        sqlite3_stmt *rows;
        const char *slash = strrchr(file, '/');
        bool known = false;
        if (statement_prepare(db, locations_sql, &rows, NULL) != 0)
                return false;
        sqlite3_bind_text(rows, 1, file, -1, SQLITE_STATIC);
        while (!known && sqlite3_step(rows) == SQLITE_ROW)
                known = source_is_named(statement_text(rows, 0),
                                        (uint64_t)sqlite3_column_int64(rows, 1),
                                        slash ? slash + 1 : file, status);
        sqlite3_finalize(rows);
        return known;
}
