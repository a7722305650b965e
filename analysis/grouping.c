/* SPDX-License-Identifier: MIT */
/* Numbers the lines, functions and objects of the name tables. Knows nothing of
 * samples. */
#include "grouping.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "statement.h"
#include "user_code.h"

/* A line is what line_finding's columns tell apart; NULLs are equal here. */
static const char location_groups_sql[] =
    "SELECT l.location_id,"
    " dense_rank() OVER (ORDER BY m.path, l.function, l.file, l.line),"
    " dense_rank() OVER (ORDER BY m.path, l.function) "
    "FROM location AS l LEFT JOIN module AS m USING (module_id) ORDER BY l.location_id";

static int read_locations(struct db *db, struct grouping *grouping, struct diag *diag)
{
        int64_t rows_there;
        int code =
            statement_number(db, "SELECT count(*) FROM location", &rows_there, diag);
        if (code)
                return code;
        size_t count = (size_t)rows_there;
        grouping->location_id = calloc(count + 1, sizeof(int64_t));
        grouping->line = calloc(count + 1, sizeof(uint32_t));
        grouping->function = calloc(count + 1, sizeof(uint32_t));
        grouping->line_location = calloc(count + 1, sizeof(int64_t));
        grouping->function_location = calloc(count + 1, sizeof(int64_t));
        grouping->line_function = calloc(count + 1, sizeof(uint32_t));
        if (!grouping->location_id || !grouping->line || !grouping->function ||
            !grouping->line_location || !grouping->function_location ||
            !grouping->line_function)
                return diag_set(diag, -ENOMEM, "no memory for %zu locations", count);
        grouping->line_groups = grouping->function_groups = 1;
        sqlite3_stmt *rows;
        code = statement_prepare(db, location_groups_sql, &rows, diag);
        for (size_t i = 0; code == 0 && i < count; i++) {
                code = statement_next(db, rows, diag);
                if (code <= 0)
                        break;
                code = 0;
                int64_t id = sqlite3_column_int64(rows, 0);
                uint32_t line = (uint32_t)sqlite3_column_int64(rows, 1);
                uint32_t function = (uint32_t)sqlite3_column_int64(rows, 2);
                grouping->location_id[i] = id;
                grouping->line[i] = line;
                grouping->function[i] = function;
                grouping->line_location[line] = id;
                grouping->function_location[function] = id;
                grouping->line_function[line] = function;
                if (line >= grouping->line_groups)
                        grouping->line_groups = line + 1;
                if (function >= grouping->function_groups)
                        grouping->function_groups = function + 1;
                grouping->location_count++;
        }
        sqlite3_finalize(rows);
        return code;
}

static int read_objects(struct db *db, struct grouping *grouping, struct diag *diag)
{
        int64_t rows_there;
        int code =
            statement_number(db, "SELECT count(*) FROM data_object", &rows_there, diag);
        if (code)
                return code;
        size_t count = (size_t)rows_there;
        grouping->object_id = calloc(count + 1, sizeof(int64_t));
        grouping->object_own = calloc(count + 1, sizeof(bool));
        if (!grouping->object_id || !grouping->object_own)
                return diag_set(diag, -ENOMEM, "no memory for %zu objects", count);
        sqlite3_stmt *rows;
        code = statement_prepare(
            db,
            "SELECT object_id, coalesce(" MEMLAG_MODULE_SQL ", 0) "
            "FROM data_object LEFT JOIN module USING (module_id) ORDER BY object_id",
            &rows, diag);
        while (code == 0 && grouping->object_count < count &&
               (code = statement_next(db, rows, diag)) > 0) {
                grouping->object_own[grouping->object_count] =
                    sqlite3_column_int(rows, 1);
                grouping->object_id[grouping->object_count++] =
                    sqlite3_column_int64(rows, 0);
                code = 0;
        }
        sqlite3_finalize(rows);
        return code;
}

int grouping_read(struct db *db, struct grouping *grouping, struct diag *diag)
{
        *grouping = (struct grouping){0};
        int code = read_locations(db, grouping, diag);
        return code ? code : read_objects(db, grouping, diag);
}

void grouping_free(struct grouping *grouping)
{
        free(grouping->location_id);
        free(grouping->line);
        free(grouping->function);
        free(grouping->line_location);
        free(grouping->function_location);
        free(grouping->line_function);
        free(grouping->object_id);
        free(grouping->object_own);
}

/* The index of ID among COUNT sorted ones, or COUNT. Ids mostly count from 1, so
 * that the first guess is right. */
static size_t index_of(const int64_t *ids, size_t count, int64_t id)
{
        if (id > 0 && (uint64_t)id <= count && ids[id - 1] == id)
                return (size_t)id - 1;
        size_t low = 0, high = count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (ids[middle] < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < count && ids[low] == id ? low : count;
}

void grouping_of_location(const struct grouping *grouping, int64_t location_id,
                          uint32_t *line, uint32_t *function)
{
        size_t i = index_of(grouping->location_id, grouping->location_count, location_id);
        bool exists = i < grouping->location_count;
        *line = exists ? grouping->line[i] : 0;
        *function = exists ? grouping->function[i] : 0;
}

uint32_t grouping_of_object(const struct grouping *grouping, int64_t object_id)
{
        size_t i = index_of(grouping->object_id, grouping->object_count, object_id);
        return i < grouping->object_count ? (uint32_t)i + 1 : 0;
}
