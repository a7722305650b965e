/* SPDX-License-Identifier: MIT */
/* Numbers the lines, functions and objects of the name tables. Knows nothing of
 * samples. */
#include "grouping.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "own_module.h"
#include "statement.h"
#include "user_code.h"

/* Names in brackets, such as "[heap]", mark memory without an allocation or variable. */
static const char objects_sql[] =
    "SELECT object_id, coalesce(" MEMLAG_MODULE_SQL ", 0), name GLOB '[[]*' "
    "FROM data_object LEFT JOIN module USING (module_id) ORDER BY object_id";

static int take_location(void *context, sqlite3_stmt *row)
{
        struct grouping *grouping = context;
        const struct grouped_location location = {
            .location_id = sqlite3_column_int64(row, 0),
            .line = (uint32_t)sqlite3_column_int64(row, 1),
            .function = (uint32_t)sqlite3_column_int64(row, 2)};
        if (array_reserve(&grouping->locations, &grouping->location_capacity,
                          grouping->location_count, sizeof(location)) < 0)
                return -ENOMEM;
        grouping->locations[grouping->location_count++] = location;
        if (location.line >= grouping->line_groups)
                grouping->line_groups = (size_t)location.line + 1;
        if (location.function >= grouping->function_groups)
                grouping->function_groups = (size_t)location.function + 1;
        return 0;
}

static int describe_groups(struct grouping *grouping)
{
        size_t lines = grouping->line_groups, functions = grouping->function_groups;
        grouping->line_location = calloc(lines, sizeof(*grouping->line_location));
        grouping->function_location =
            calloc(functions, sizeof(*grouping->function_location));
        grouping->line_function = calloc(lines, sizeof(*grouping->line_function));
        if (!grouping->line_location || !grouping->function_location ||
            !grouping->line_function)
                return -ENOMEM;
        for (size_t i = 0; i < grouping->location_count; i++) {
                const struct grouped_location *location = &grouping->locations[i];
                grouping->line_location[location->line] = location->location_id;
                grouping->function_location[location->function] = location->location_id;
                grouping->line_function[location->line] = location->function;
        }
        return 0;
}

static int take_object(void *context, sqlite3_stmt *row)
{
        struct grouping *grouping = context;
        if (array_reserve(&grouping->objects, &grouping->object_capacity,
                          grouping->object_count, sizeof(*grouping->objects)) < 0)
                return -ENOMEM;
        grouping->objects[grouping->object_count++] = (struct grouped_object){
            sqlite3_column_int64(row, 0), sqlite3_column_int(row, 1),
            sqlite3_column_int(row, 2)};
        return 0;
}

int grouping_read(struct db *db, struct grouping *grouping, struct diag *diag)
{
        *grouping = (struct grouping){.line_groups = 1, .function_groups = 1};
        int code = statement_each(db, GROUPING_LOCATIONS, take_location, grouping, diag);
        if (!code && describe_groups(grouping) < 0)
                code = diag_no_memory(diag);
        return code ? code : statement_each(db, objects_sql, take_object, grouping, diag);
}

void grouping_free(struct grouping *grouping)
{
        free(grouping->locations);
        free(grouping->line_location);
        free(grouping->function_location);
        free(grouping->line_function);
        free(grouping->objects);
}

/* The index of ID among COUNT items of ITEM_BYTES, or COUNT. Items begin with their ids,
 * sorted. Ids mostly count from 1: the first guess is usually right. */
static size_t index_of(const void *items, size_t item_bytes, size_t count, int64_t id)
{
        const char *bytes = items;
        size_t low = 0, high = count;
        size_t middle = id > 0 && (uint64_t)id <= count ? (size_t)id - 1 : count / 2;
        while (low < high) {
                int64_t there;
                memcpy(&there, bytes + middle * item_bytes, sizeof(there));
                if (there == id)
                        return middle;
                if (there < id)
                        low = middle + 1;
                else
                        high = middle;
                middle = low + (high - low) / 2;
        }
        return count;
}

void grouping_of_location(const struct grouping *grouping, int64_t location_id,
                          uint32_t *line, uint32_t *function)
{
        size_t i = index_of(grouping->locations, sizeof(*grouping->locations),
                            grouping->location_count, location_id);
        bool exists = i < grouping->location_count;
        *line = exists ? grouping->locations[i].line : 0;
        *function = exists ? grouping->locations[i].function : 0;
}

uint32_t grouping_of_object(const struct grouping *grouping, int64_t object_id)
{
        size_t i = index_of(grouping->objects, sizeof(*grouping->objects),
                            grouping->object_count, object_id);
        return i < grouping->object_count ? (uint32_t)i + 1 : 0;
}
