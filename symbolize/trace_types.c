/* SPDX-License-Identifier: MIT */
#include "trace_types.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

/* The views are made by the analysis, which comes later. */
static const char answers[] =
    "SELECT count(*), coalesce(o.kind, ''), coalesce(o.name, ''), "
    "coalesce(y.name || coalesce('.' || f.name, ''), ''), "
    "coalesce(w.source || coalesce(' ' || w.pointer, ''), u.reason, '') "
    "FROM sample AS s LEFT JOIN attribution AS a USING (sample_id) "
    "LEFT JOIN data_object AS o USING (object_id) "
    "LEFT JOIN type_field AS f USING (field_id) "
    "LEFT JOIN data_type AS y ON y.type_id = f.type_id "
    "LEFT JOIN type_source AS w USING (type_source_id) "
    "LEFT JOIN untyped AS u USING (untyped_id) "
    "WHERE s.ip = ?1 GROUP BY 2, 3, 4, 5 ORDER BY 1 DESC, 2, 3, 4, 5";

static const char *text(sqlite3_stmt *row, int column)
{
        return (const char *)sqlite3_column_text(row, column);
}

int trace_types_check(struct db *db, uint64_t address, struct diag *diag)
{
        sqlite3_stmt *row;

        if (sqlite3_prepare_v2(db_sqlite(db), "SELECT 1 FROM sample WHERE ip = ?1", -1,
                               &row, NULL) != SQLITE_OK)
                return db_error(db, "read the samples", diag);
        sqlite3_bind_int64(row, 1, (int64_t)address);
        int step = sqlite3_step(row);

        sqlite3_finalize(row);
        if (step == SQLITE_ROW)
                return 0;
        return step == SQLITE_DONE
                   ? diag_set(diag, -ENOENT,
                              "no sample is at address %#" PRIx64
                              "; take one from the column ip of sample_view",
                              address)
                   : db_error(db, "read the samples", diag);
}

int trace_types_print(struct db *db, uint64_t address, struct diag *diag)
{
        sqlite3_stmt *row;
        int rows = 0, step;

        if (sqlite3_prepare_v2(db_sqlite(db), answers, -1, &row, NULL) != SQLITE_OK)
                return db_error(db, "read the types of samples", diag);
        sqlite3_bind_int64(row, 1, (int64_t)address);
        while ((step = sqlite3_step(row)) == SQLITE_ROW) {
                if (rows++ == 0)
                        puts("samples\tkind\tobject\ttype and field\tevidence");
                printf("%" PRId64 "\t%s\t%s\t%s\t%s\n",
                       (int64_t)sqlite3_column_int64(row, 0), text(row, 1), text(row, 2),
                       text(row, 3), text(row, 4));
        }
        int error =
            step == SQLITE_DONE ? 0 : db_error(db, "read the types of samples", diag);

        sqlite3_finalize(row);
        return error;
}
