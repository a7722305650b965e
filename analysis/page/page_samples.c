/* SPDX-License-Identifier: MIT */
/* Sums over the samples, small enough for a page. Shares of cycles are in billionths of
 * the run: the sums then equal the findings. */
#include <sqlite3.h>

#include "counters.h"
#include "grouping.h"
#include "page_parts.h"
#include "report_sql.h"
#include "statement.h"

/* A page of a million samples should have at most 5 MB: a cell takes about 25 bytes. */
enum { SPANS_MAX = 240, CELLS_MAX = 90000 };

#define LINES_MAX     "2000"
#define FUNCTIONS_MAX "1500"
#define OBJECTS_MAX   "1500"
#define TYPES_MAX     "150"
#define CALLERS_MAX   "6000"

/* ---- the spans of time ---- */

static int read_range(struct db *db, int64_t *from, int64_t *to, struct diag *diag)
{
        static const char sql[] =
            "SELECT coalesce(min(first), 0), coalesce(max(last), 1) FROM ("
            " SELECT min(start_ns) AS first, max(end_ns) AS last FROM interval"
            " UNION ALL SELECT min(time_ns), max(time_ns) + 1 FROM sample)";
        sqlite3_stmt *row;
        int code = statement_first(db, sql, &row, diag);
        *from = sqlite3_column_int64(row, 0);
        *to = sqlite3_column_int64(row, 1);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* A damaged file may have arbitrary times. */
static struct page_grid grid_of(int64_t from, int64_t to, int64_t interval_ns)
{
        int64_t length;
        from = from < 0 ? 0 : from;
        if (__builtin_sub_overflow(to, from, &length) || length <= 0)
                length = 1;
        int64_t unit = interval_ns > 0 ? interval_ns : length / SPANS_MAX + 1;
        from -= from % unit;
        length = to > from ? to - from : 1;
        int64_t units = (length - 1) / unit + 1;
        int64_t each = (units - 1) / SPANS_MAX + 1;
        return (struct page_grid){from, unit * each, (units - 1) / each + 1};
}

static int store_grid(struct db *db, const struct page_grid *grid, struct diag *diag)
{
        static const char sql[] = "INSERT INTO temp.page_grid VALUES (?1, ?2, ?3)";
        sqlite3_stmt *insert;
        int code = statement_run_all(db, "DELETE FROM temp.page_grid", diag);
        if (!code)
                code = statement_prepare(db, sql, &insert, diag);
        if (code)
                return code;
        sqlite3_bind_int64(insert, 1, grid->from_ns);
        sqlite3_bind_int64(insert, 2, grid->span_ns);
        sqlite3_bind_int64(insert, 3, grid->count);
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}

/* ---- sums over the samples ---- */

/* SQL is laid out as SQL. */
/* clang-format off */
static const char tables_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS sample_part (sample_id INTEGER PRIMARY KEY, part INTEGER);"
    "CREATE TEMP TABLE page_grid (from_ns INTEGER, span_ns INTEGER, count INTEGER);"
    "CREATE TEMP TABLE page_counter (counter_id INTEGER PRIMARY KEY, what TEXT)";

/* part: of tally.h; -1: page faults; NULL: not known. squared: of each load's share,
 * in billionths. Weights: the share of all stalled cycles per cycle of retire latency, and
 * per kernel cycle of page faults. */
static const char cube_sql[] =
    "CREATE TEMP TABLE page_weight AS SELECT"
    " (SELECT total(stalled_ratio) - total(fault_ratio) FROM function_finding)"
    " / (SELECT nullif(total(" STATEMENT_STALL "), 0) FROM sample AS s" STATEMENT_MEMORY_SAMPLES
    "    AND s.retire_latency_cycles > 0) AS retired,"
    " (SELECT total(fault_ratio) FROM function_finding)"
    " / (SELECT nullif(total(kernel_cycles), 0) FROM page_fault) AS faulted;"
    "CREATE TEMP TABLE page_cube AS "
    "SELECT CAST(max(0, min(g.count - 1, (s.time_ns - g.from_ns) / g.span_ns)) AS INTEGER) AS span,"
    " coalesce(p.location_id, 0) AS location_id, coalesce(a.object_id, 0) AS object_id,"
    " coalesce(a.field_id, 0) AS field_id,"
    " coalesce(s.stack_id, -p.location_id, 0) AS path_id, s.thread_id AS thread_id,"
    " coalesce(c.part, iif(e.faults, -1, NULL)) AS part,"
    " count(*) - count(e.faults) AS samples,"
    " total(s.data_source_id IN (SELECT data_source_id FROM data_source"
    "                            WHERE level IN ('DRAM', 'REMOTE_DRAM'))) AS dram,"
    " total(iif(s.latency_cycles >= 0, s.latency_cycles, max(coalesce(s.stall_ns, 0), 0))) AS cost,"
    " 1e9 * total(coalesce(iif(s.retire_latency_cycles >= 0, " STATEMENT_STALL ", 0) * w.retired, 0)"
    "             + coalesce(e.kernel_cycles * w.faulted, 0)) AS stalled,"
    " 1e9 * total(coalesce(iif(s.retire_latency_cycles >= 0, " STATEMENT_STALL ", 0) * w.retired, 0)"
    "             * iif(s.retire_latency_cycles >= 0, " STATEMENT_STALL ", 0) * w.retired * 1e9) AS squared "
    "FROM page_grid AS g, page_weight AS w, sample AS s"
    " JOIN sample_location AS p USING (sample_id)"
    " LEFT JOIN attribution AS a USING (sample_id)"
    " LEFT JOIN page_fault AS e USING (sample_id)"
    " LEFT JOIN sample_part AS c USING (sample_id) "
    STATEMENT_MEMORY_SAMPLES "OR e.faults "
    "GROUP BY 1, 2, 3, 4, 5, 6, 7";

static const char cells_sql[] =
    "SELECT (SELECT count(*) FROM (SELECT DISTINCT span, part, location_id FROM page_cube))"
    " + (SELECT count(*) FROM (SELECT DISTINCT span, part, object_id FROM page_cube))"
    " + (SELECT count(*) FROM (SELECT DISTINCT span, part, field_id FROM page_cube))"
    " + (SELECT count(*) FROM (SELECT DISTINCT span, path_id FROM page_cube))";

/* ---- from samples to findings ---- */

#define ORDER " ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC, "

static const char findings_sql[] =
    "CREATE TEMP TABLE page_line (line_id INTEGER PRIMARY KEY);"
    "INSERT INTO page_line SELECT line_id FROM line_finding" ORDER "line_id LIMIT " LINES_MAX ";"
    "CREATE TEMP TABLE page_location (location_id INTEGER PRIMARY KEY, line_id INTEGER,"
    " function_id INTEGER);"
    "INSERT INTO page_location " GROUPING_LOCATIONS ";"
    "INSERT OR IGNORE INTO page_location VALUES (0, 0, 0);"
    "CREATE TEMP TABLE page_function (function_id INTEGER PRIMARY KEY);"
    "INSERT OR IGNORE INTO page_function SELECT function_id FROM page_location"
    " JOIN page_line USING (line_id) UNION ALL SELECT 0;"
    "INSERT OR IGNORE INTO page_function SELECT function_id FROM function_finding"
    ORDER "function_id LIMIT " FUNCTIONS_MAX ";"
    "CREATE TEMP TABLE page_object (object_id INTEGER PRIMARY KEY);"
    "INSERT INTO page_object SELECT object_id FROM object_finding"
    ORDER "object_id LIMIT " OBJECTS_MAX ";"
    "CREATE TEMP TABLE page_type (type_id INTEGER PRIMARY KEY);"
    "INSERT INTO page_type SELECT type_id FROM field_finding JOIN type_field USING (field_id)"
    " GROUP BY type_id ORDER BY sum(stalled_ratio) DESC, sum(latency_share) DESC,"
    " sum(samples) DESC, type_id LIMIT " TYPES_MAX ";"
    "CREATE TEMP TABLE page_caller (caller_id INTEGER PRIMARY KEY);"
    "INSERT INTO page_caller SELECT caller_id FROM caller_finding"
    ORDER "caller_id LIMIT " CALLERS_MAX ";"
    "CREATE TEMP TABLE page_file (file_id INTEGER PRIMARY KEY, path TEXT UNIQUE);"
    "INSERT INTO page_file (path) SELECT DISTINCT file FROM line_finding"
    " JOIN page_line USING (line_id) WHERE file IS NOT NULL"
    " UNION SELECT caller_file FROM line_finding JOIN page_line USING (line_id)"
    " WHERE caller_file IS NOT NULL";

/* Maps stacks to the tree of calls: stack nodes are addresses, call nodes are functions.
 * A row is a function at an address, or an inlined function there; path_id and depth
 * identify it. Its parent is the preceding row of the path. Stack nodes without a
 * location are skipped: their callees continue from the caller. */
static const char paths_sql[] =
    "CREATE TEMP TABLE page_stack (path_id INTEGER PRIMARY KEY, parent_id INTEGER,"
    " location_id INTEGER);"
    "INSERT INTO page_stack WITH RECURSIVE caller (stack_id) AS ("
    " SELECT DISTINCT path_id FROM page_cube WHERE path_id > 0"
    " UNION SELECT parent_id FROM caller JOIN stack_node USING (stack_id)"
    " WHERE parent_id IS NOT NULL) "
    "SELECT stack_id, parent_id, location_id FROM caller JOIN stack_node USING (stack_id)"
    " LEFT JOIN node_location USING (stack_id);"
    "INSERT OR IGNORE INTO page_stack"
    " SELECT DISTINCT path_id, NULL, -path_id FROM page_cube WHERE path_id <= 0;"
    "CREATE TEMP TABLE page_frame AS "
    "SELECT l.location_id, coalesce(f.depth, 0) AS depth, m.path AS module,"
    " iif(f.location_id IS NULL, l.function, f.function) AS function,"
    " iif(f.location_id IS NULL, l.function_offset, NULL) AS function_offset "
    "FROM location AS l LEFT JOIN module AS m USING (module_id)"
    " LEFT JOIN inline_frame AS f USING (location_id) "
    "WHERE l.location_id IN (SELECT location_id FROM page_stack);"
    "CREATE INDEX temp.page_frame_place ON page_frame (location_id, depth);"
    "CREATE TEMP TABLE page_step AS "
    "SELECT s.path_id, coalesce(f.depth, 0) AS depth, f.location_id IS NULL AS passed,"
    " f.module, f.function, f.function_offset,"
    " lead(f.depth) OVER (PARTITION BY s.path_id ORDER BY f.depth) AS outer_depth,"
    " s.parent_id "
    "FROM page_stack AS s LEFT JOIN page_frame AS f USING (location_id);"
    "CREATE INDEX temp.page_step_parent ON page_step (parent_id) WHERE outer_depth IS NULL;"
    "CREATE INDEX temp.page_step_outer ON page_step (path_id, outer_depth);"
    "CREATE TEMP TABLE page_call AS SELECT coalesce(parent_id, 0) AS parent_id, caller_id,"
    " module, function, function_offset FROM caller_finding;"
    "CREATE INDEX temp.page_call_callee ON page_call (parent_id, function);"
    "CREATE TEMP TABLE page_path (path_id INTEGER PRIMARY KEY, caller_id INTEGER);"
    "INSERT OR IGNORE INTO page_path WITH RECURSIVE reached (path_id, depth, caller_id) AS ("
    " SELECT -9223372036854775807, 0, 0"
    " UNION ALL"
    " SELECT s.path_id, s.depth, c.caller_id FROM reached AS r CROSS JOIN page_step AS s"
    "  CROSS JOIN page_call AS c"
    " WHERE r.depth = 0 AND s.outer_depth IS NULL AND s.parent_id IS iif(r.path_id = -9223372036854775807, NULL, r.path_id)"
    "  AND NOT s.passed AND c.parent_id = r.caller_id AND c.function IS s.function"
    "  AND c.module IS s.module"
    "  AND (s.function IS NOT NULL OR c.function_offset IS s.function_offset)"
    " UNION ALL"
    " SELECT s.path_id, s.depth, c.caller_id FROM reached AS r CROSS JOIN page_step AS s"
    "  CROSS JOIN page_call AS c"
    " WHERE s.path_id = r.path_id AND s.outer_depth = r.depth"
    "  AND c.parent_id = r.caller_id AND c.function IS s.function AND c.module IS s.module"
    "  AND (s.function IS NOT NULL OR c.function_offset IS s.function_offset)"
    " UNION ALL"
    " SELECT s.path_id, 0, r.caller_id FROM reached AS r CROSS JOIN page_step AS s"
    " WHERE r.depth = 0 AND s.outer_depth IS NULL AND s.parent_id IS iif(r.path_id = -9223372036854775807, NULL, r.path_id)"
    "  AND s.passed) "
    "SELECT path_id, caller_id FROM reached WHERE depth = 0 AND caller_id > 0";
/* clang-format on */

static int take_counter(void *context, sqlite3_stmt *row)
{
        sqlite3_stmt *insert = context;
        enum concept concept = counter_concept(statement_text(row, 1));
        const char *what = concept == CONCEPT_CYCLES        ? "cycles"
                           : concept == CONCEPT_PAGE_FAULTS ? "faults"
                                                            : NULL;
        if (!what)
                return 0;
        sqlite3_bind_int64(insert, 1, sqlite3_column_int64(row, 0));
        sqlite3_bind_text(insert, 2, what, -1, SQLITE_STATIC);
        sqlite3_step(insert); /* the next statement reports a failure */
        sqlite3_reset(insert);
        return 0;
}

static int name_counters(struct db *db, struct diag *diag)
{
        sqlite3_stmt *insert;
        int code = statement_prepare(db, "INSERT INTO temp.page_counter VALUES (?1, ?2)",
                                     &insert, diag);
        if (!code)
                code = statement_each(
                    db, "SELECT counter_id, coalesce(stands_for, name) FROM counter",
                    take_counter, insert, diag);
        sqlite3_finalize(insert);
        return code;
}

/* Halves the number of spans until all cells fit the page. */
static int fit_grid(struct db *db, struct page_grid *grid, struct diag *diag)
{
        int64_t cells;
        int code = statement_number(db, cells_sql, &cells, diag);
        while (!code && cells > CELLS_MAX && grid->count > 1) {
                if (__builtin_mul_overflow(grid->span_ns, 2, &grid->span_ns))
                        grid->span_ns = INT64_MAX; /* of a damaged file */
                grid->count = (grid->count + 1) / 2;
                code = statement_run_all(db, "UPDATE temp.page_cube SET span = span / 2",
                                         diag);
                if (!code)
                        code = statement_number(db, cells_sql, &cells, diag);
        }
        return code ? code : store_grid(db, grid, diag);
}

int page_samples_prepare(struct db *db, struct page_grid *grid, struct diag *diag)
{
        int64_t from, to;
        int code = read_range(db, &from, &to, diag);
        if (code)
                return code;
        *grid = grid_of(from, to, db_run_int(db, "interval_ns", 0));
        code = statement_run_all(db, tables_sql, diag);
        if (!code)
                code = store_grid(db, grid, diag);
        if (!code)
                code = name_counters(db, diag);
        if (!code)
                code = statement_run_all(db, cube_sql, diag);
        if (!code)
                code = fit_grid(db, grid, diag);
        if (!code)
                code = statement_run_all(db, findings_sql, diag);
        return code ? code : statement_run_all(db, paths_sql, diag);
}
