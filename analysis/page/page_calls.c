/* SPDX-License-Identifier: MIT */
/* The cost of the samples below each calling line, by span. A line without a sample of
 * its own may wait long in its calls. If a path has a line several times, as in a
 * recursion, the sample counts once. */
#include <sqlite3.h>
#include <stdlib.h>

#include "array.h"
#include "page_parts.h"
#include "statement.h"

#define CALLING_LINES_MAX "200"

/* SQL is laid out as SQL. */
/* clang-format off */
static const char lines_sql[] =
    "CREATE TEMP TABLE page_call_site (location_id INTEGER, file TEXT, line INTEGER, own INTEGER);"
    "INSERT INTO page_call_site SELECT location_id, file, line, 1 FROM location"
    " WHERE location_id IN (SELECT location_id FROM page_stack) AND file IS NOT NULL AND line > 0"
    " UNION ALL SELECT location_id, call_file, call_line, 0 FROM inline_frame"
    " WHERE location_id IN (SELECT location_id FROM page_stack) AND call_file IS NOT NULL AND call_line > 0;"
    "CREATE TEMP TABLE page_calling (calling_id INTEGER PRIMARY KEY, file TEXT, line INTEGER, UNIQUE (file, line));"
    "INSERT OR IGNORE INTO page_calling (file, line) SELECT file, line FROM page_call_site;"
    "CREATE TEMP TABLE page_calling_cell (calling_id INTEGER, span INTEGER, samples INTEGER, cost REAL, stalled REAL)";

/* The chosen lines are numbered anew, from 1. */
static const char choose_sql[] =
    "CREATE TEMP TABLE page_chosen AS SELECT file, line FROM page_calling JOIN page_calling_cell"
    " USING (calling_id) ORDER BY stalled DESC, cost DESC, samples DESC, calling_id LIMIT " CALLING_LINES_MAX ";"
    "DELETE FROM page_calling_cell;"
    "DELETE FROM page_calling;"
    "INSERT INTO page_calling (file, line) SELECT file, line FROM page_chosen;"
    "INSERT OR IGNORE INTO page_file (path) SELECT file FROM page_chosen";

static const char steps_sql[] =
    "SELECT path_id, parent_id, calling_id, own FROM page_stack AS s"
    " LEFT JOIN page_call_site AS c USING (location_id) LEFT JOIN page_calling USING (file, line)"
    " ORDER BY path_id";

static const char cells_sql[] =
    "SELECT path_id, span, sum(samples), sum(cost), sum(stalled) FROM page_cube"
    " GROUP BY path_id, span ORDER BY path_id";
/* clang-format on */

/* A step of a path at one line; an inlined call adds another line. */
struct step {
        int64_t path_id, parent_id, calling_id;
        bool own; /* line of the instruction, not of a call that was inlined */
};

struct sum {
        int64_t samples;
        double cost, stalled;
};

struct calls {
        struct step *steps; /* in the order of path_id */
        size_t count, capacity;
        struct sum *sums; /* of SPANS for each calling line, by its number from 0 */
        int64_t *seen;    /* by line: the last cell that counted */
        int64_t lines, spans;
        int64_t cell;
        struct diag *diag;
};

static int take_step(void *context, sqlite3_stmt *row)
{
        struct calls *calls = context;
        if (array_reserve(&calls->steps, &calls->capacity, calls->count,
                          sizeof(*calls->steps)))
                return diag_no_memory(calls->diag);
        calls->steps[calls->count++] =
            (struct step){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                          sqlite3_column_int64(row, 2), sqlite3_column_int(row, 3)};
        return 0;
}

/* The first step of PATH_ID; the steps at its other lines follow. */
static const struct step *first_step(const struct calls *calls, int64_t path_id)
{
        size_t low = 0, high = calls->count;
        while (low < high) {
                const size_t middle = low + (high - low) / 2;
                if (calls->steps[middle].path_id < path_id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < calls->count && calls->steps[low].path_id == path_id
                   ? &calls->steps[low]
                   : NULL;
}

static void add(struct calls *calls, int64_t line, int64_t span, const struct sum *sum)
{
        if (line < 0 || line >= calls->lines || calls->seen[line] == calls->cell)
                return;
        struct sum *to =
            &calls->sums[line * calls->spans + (calls->spans > 1 ? span : 0)];
        calls->seen[line] = calls->cell;
        if (__builtin_add_overflow(to->samples, sum->samples, &to->samples))
                to->samples = INT64_MAX;
        to->cost += sum->cost;
        to->stalled += sum->stalled;
}

/* Callers get their numbers before their callees: only a damaged file has a parent with a
 * higher number. */
static int take_cell(void *context, sqlite3_stmt *row)
{
        struct calls *calls = context;
        const struct step *end = calls->steps + calls->count;
        const int64_t leaf = sqlite3_column_int64(row, 0);
        const int64_t span = sqlite3_column_int64(row, 1);
        const struct sum sum = {sqlite3_column_int64(row, 2),
                                sqlite3_column_double(row, 3),
                                sqlite3_column_double(row, 4)};
        calls->cell++;
        for (const struct step *at = first_step(calls, leaf); at;) {
                const int64_t path = at->path_id, parent = at->parent_id;
                for (; at < end && at->path_id == path; at++)
                        if (path != leaf || !at->own)
                                add(calls, at->calling_id - 1, span, &sum);
                at = parent && parent < path ? first_step(calls, parent) : NULL;
        }
        return 0;
}

static int store_sums(struct db *db, const struct calls *calls, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(
            db, "INSERT INTO temp.page_calling_cell VALUES (?1, ?2, ?3, ?4, ?5)", &insert,
            diag);
        for (int64_t i = 0; !code && i < calls->lines * calls->spans; i++) {
                const struct sum *sum = &calls->sums[i];
                if (!sum->samples && !(sum->stalled > 0))
                        continue;
                sqlite3_bind_int64(insert, 1, 1 + i / calls->spans);
                sqlite3_bind_int64(insert, 2, i % calls->spans);
                sqlite3_bind_int64(insert, 3, sum->samples);
                sqlite3_bind_double(insert, 4, sum->cost);
                sqlite3_bind_double(insert, 5, sum->stalled);
                code = statement_run(db, insert, diag);
        }
        sqlite3_finalize(insert);
        return code;
}

/* Sums by calling line and span; SPANS of 1: of the whole run. */
static int sum_up(struct db *db, int64_t spans, struct diag *diag)
{
        struct calls calls = {.spans = spans, .diag = diag};
        int code = statement_number(
            db, "SELECT coalesce(max(calling_id), 0) FROM temp.page_calling",
            &calls.lines, diag);
        if (code)
                return code;
        calls.sums = calloc((size_t)(calls.lines * spans) + 1, sizeof(*calls.sums));
        calls.seen = calloc((size_t)calls.lines + 1, sizeof(*calls.seen));
        code = calls.sums && calls.seen ? 0 : diag_no_memory(diag);
        if (!code)
                code = statement_each(db, steps_sql, take_step, &calls, diag);
        if (!code)
                code = statement_each(db, cells_sql, take_cell, &calls, diag);
        if (!code)
                code = store_sums(db, &calls, diag);
        free(calls.steps);
        free(calls.sums);
        free(calls.seen);
        return code;
}

int page_calls_prepare(struct db *db, const struct page_grid *grid, struct diag *diag)
{
        int code = statement_run_all(db, lines_sql, diag);
        if (!code)
                code = sum_up(db, 1, diag);
        if (!code)
                code = statement_run_all(db, choose_sql, diag);
        return code ? code : sum_up(db, grid->count, diag);
}
