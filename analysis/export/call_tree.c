/* SPDX-License-Identifier: MIT */
/* See call_tree.h. */
#include "call_tree.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "array.h"
#include "report_sql.h"
#include "statement.h"

/* SQL is laid out as SQL. */
/* clang-format off */
#define NAMED \
        "named AS MATERIALIZED (SELECT *, coalesce(" REPORT_BASE("module") ", '[unknown]') AS object," \
        REPORT_FUNCTION_NAME "AS name FROM caller_finding)," \
        " numbered AS (SELECT *, dense_rank() OVER (ORDER BY object, name) AS number FROM named) "
static const char functions_sql[] =
    "WITH " NAMED "SELECT DISTINCT number, name, object FROM numbered ORDER BY number";
static const char calls_sql[] =
    "WITH " NAMED
    "SELECT depth, number, CAST(round(1e6 * coalesce(self_stalled_ratio, 0)) AS INTEGER),"
    " CAST(round(1e6 * coalesce(self_latency_share, 0)) AS INTEGER), self_samples"
    " FROM numbered ORDER BY caller_id";
static const char known_sql[] =
    "SELECT max(self_stalled_ratio) IS NOT NULL, max(self_latency_share) IS NOT NULL, 1"
    " FROM caller_finding";
/* clang-format on */

struct reading {
        struct call_tree *tree;
        size_t *path; /* the calls on the path to the current row */
        size_t depth, capacity;
};

static int take_function(void *context, sqlite3_stmt *row)
{
        struct call_tree *tree = context;
        if (array_reserve(&tree->functions, &tree->function_capacity,
                          tree->function_count, sizeof(*tree->functions)))
                return -ENOMEM;
        struct call_function *function = &tree->functions[tree->function_count++];
        *function = (struct call_function){statement_printable(row, 1),
                                           statement_printable(row, 2)};
        return function->name && function->module ? 0 : -ENOMEM;
}

/* A damaged file may skip a depth: such a row becomes a child of the last row. */
static int take_call(void *context, sqlite3_stmt *row)
{
        struct reading *reading = context;
        struct call_tree *tree = reading->tree;
        const int64_t depth = sqlite3_column_int64(row, 0);
        if (depth >= 0 && (uint64_t)depth < reading->depth)
                reading->depth = (size_t)depth;
        if (array_reserve(&tree->calls, &tree->capacity, tree->count,
                          sizeof(*tree->calls)) ||
            array_reserve(&reading->path, &reading->capacity, reading->depth,
                          sizeof(*reading->path)))
                return -ENOMEM;
        struct call *call = &tree->calls[tree->count];
        *call = (struct call){.parent = reading->depth ? reading->path[reading->depth - 1]
                                                       : SIZE_MAX,
                              .depth = reading->depth,
                              .function = (size_t)sqlite3_column_int64(row, 1) - 1};
        for (int i = 0; i < EXPORT_WEIGHTS; i++) {
                const int64_t own = sqlite3_column_int64(row, 2 + i);
                call->own[i] = own > 0 ? own : 0;
        }
        reading->path[reading->depth++] = tree->count++;
        return 0;
}

static int take_known(void *context, sqlite3_stmt *row)
{
        struct call_tree *tree = context;
        for (int i = 0; i < EXPORT_WEIGHTS; i++)
                tree->known[i] = sqlite3_column_int(row, i);
        return 0;
}

int call_tree_read(struct db *db, struct call_tree *tree, struct diag *diag)
{
        *tree = (struct call_tree){.count = 0};
        struct reading reading = {.tree = tree};
        int code = statement_each(db, known_sql, take_known, tree, diag);
        if (!code)
                code = statement_each(db, functions_sql, take_function, tree, diag);
        if (!code)
                code = statement_each(db, calls_sql, take_call, &reading, diag);
        free(reading.path);
        return code;
}

void call_tree_free(struct call_tree *tree)
{
        for (size_t i = 0; i < tree->function_count; i++) {
                free(tree->functions[i].name);
                free(tree->functions[i].module);
        }
        free(tree->functions);
        free(tree->calls);
}
