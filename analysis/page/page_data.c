/* SPDX-License-Identifier: MIT */
/* The page's data: SQL tables as JSON, and the first lines of the report. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "page_parts.h"
#include "render.h"
#include "report_sql.h"
#include "source_lines.h"
#include "statement.h"
#include "tally.h"
#include "verdict.h"

struct table {
        const char *name;
        const char *sql;
};

/* Table of a view that some recordings lack; the page then lacks it too. */
struct optional_table {
        const char *view;
        struct table table;
};

/* SQL is laid out as SQL. */
/* clang-format off */
#define ROUNDED(column) " round(" column ", 6) AS " column ","
#define FIGURES \
        " samples, round(dram_samples * 1.0 / nullif(level_samples, 0), 4) AS dram," \
        " round(mean_latency_cycles, 1) AS mean," ROUNDED("latency_share") \
        ROUNDED("stalled_ratio") " verdict, cache_level, page_faults "
#define SUMS \
        " CAST(round(sum(cost)) AS INTEGER) AS cost, CAST(round(sum(stalled)) AS INTEGER) AS stalled "
#define CELLS(id) \
        id " AS id, span, sum(samples) AS samples," SUMS
/* Sums by part of the causes, which the page judges as verdict.c does. */
#define CAUSE_CELLS(id) \
        id " AS id, span, sum(samples) AS samples," SUMS ", part, CAST(sum(dram) AS INTEGER) AS dram "
/* The size of one stall: of as many equal ones the sum would be as uncertain. */
#define EVENTS(id, from) \
        "SELECT " id " AS id, CAST(sum(squared) / sum(stalled) AS INTEGER) AS event FROM page_cube " from \
        " WHERE part >= 0 GROUP BY 1 HAVING sum(stalled) > 0"
#define OF_LOCATIONS "JOIN page_location USING (location_id)"
#define OF_FIELDS "JOIN type_field USING (field_id) JOIN page_type USING (type_id)"
#define FILE_ID(file) " (SELECT file_id FROM page_file WHERE path = " file ") "

/* The share of the first run's CPU time at the row ID of FROM; NULL: there was no such run.
 * NONE is the share of a row that the run never sampled. */
#define MEASURED(from, id, finding, none) \
        " round(coalesce((SELECT measured_ratio FROM " finding " AS m WHERE m." id " = " from "." id ")," \
        "  iif(EXISTS (SELECT 1 FROM " finding "), " none ", NULL)), 6) AS measured,"

static const struct table tables[] = {
    {"run", "SELECT key, value FROM run_info ORDER BY key"},
    {"machine", "SELECT key, value FROM machine WHERE key = 'dram_bandwidth_gbs'"},
    {"thresholds", "SELECT name, value, unit, origin FROM threshold ORDER BY name"},
    {"ledger", "SELECT stage, kind, value, unit FROM ledger WHERE value <> 0 ORDER BY stage, kind"},
    {"grid", "SELECT from_ns, span_ns, count FROM page_grid"},
    {"places", "SELECT line_id FROM" REPORT_PLACES("3", "NOT EXISTS (SELECT 1 FROM sample"
               " WHERE latency_cycles IS NOT NULL)") "WHERE weight >= 0.01 ORDER BY weight DESC, line_id"},
    {"sums", "SELECT span, sum(samples) AS samples, CAST(round(sum(cost)) AS INTEGER) AS cost,"
             " CAST(round(sum(stalled)) AS INTEGER) AS stalled,"
             " CAST(round(total(stalled) FILTER (WHERE part = -1)) AS INTEGER) AS faulted"
             " FROM page_cube GROUP BY span"},
    {"spans", "SELECT max(0, min(g.count - 1, (start_ns / 2 + end_ns / 2 - g.from_ns) / g.span_ns))"
              " AS span, what, CAST(total(value) AS INTEGER) AS value"
              " FROM page_grid AS g, reading JOIN page_counter USING (counter_id)"
              " GROUP BY 1, 2"},
    /* Means over equal parts of a span, and the bound of the longest time in each part.
     */
    {"time", "WITH part AS (SELECT *, (start_ns - from_ns) * 600"
             "  / max(1, span_ns * count) AS part, end_ns - start_ns AS ns"
             "  FROM interval_view JOIN utilisation_view USING (interval_id, start_ns, end_ns,"
             "  active_cores) JOIN (SELECT interval_id, other_stall_ratio FROM stall_view)"
             "  USING (interval_id), page_grid),"
             " bounds AS (SELECT part, bound, max(ns) FROM"
             "  (SELECT part," REPORT_BOUND("bound") "AS bound, sum(ns) AS ns FROM part GROUP BY 1, 2)"
             "  GROUP BY part) "
             "SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns,"
             " round(sum(lmrl_cycles * ns) / sum(iif(lmrl_cycles IS NULL, 0, ns)), 1) AS lmrl,"
             " round(sum(active_cores * ns) / sum(ns), 3) AS cores,"
             " round(sum(read_gbs * ns) / sum(ns), 3) AS read_gbs,"
             " round(sum(write_gbs * ns) / sum(ns), 3) AS write_gbs,"
             " round(max(peak_gbs), 2) AS peak_gbs, max(contended) AS contended,"
             " round(sum(use_ratio * ns) FILTER (WHERE contended = 1)"
             "  / sum(ns) FILTER (WHERE contended = 1 AND use_ratio IS NOT NULL), 3) AS used,"
             " round(sum(coalesce(busy_ratio, 1) * ns) FILTER (WHERE contended = 1)"
             "  / sum(ns) FILTER (WHERE contended = 1), 3) AS busy,"
             " round(sum(contended * ns) * 1.0 / sum(ns), 3) AS short, b.bound AS bound"
             " FROM part JOIN bounds AS b USING (part) GROUP BY part ORDER BY part"},
    {"files", "SELECT file_id, path FROM page_file ORDER BY file_id"},
    {"functions", "SELECT function_id, module," REPORT_FUNCTION ","
                  MEASURED("f", "function_id", "function_clock_finding", "0") FIGURES
                  "FROM function_finding AS f JOIN page_function USING (function_id)"
                  " ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC, function_id"},
    {"lines", "SELECT l.line_id, f.function_id," FILE_ID("file") "AS file_id, line,"
              MEASURED("l", "line_id", "line_clock_finding", "0") FIGURES ", iif(" REPORT_HAS_CALLER "," FILE_ID("caller_file") ", NULL)"
              " AS caller_file_id, caller_line, caller_function,"
              " round(caller_share, 3) AS caller_share"
              " FROM line_finding AS l JOIN page_line USING (line_id) LEFT JOIN"
              " (SELECT line_id, max(function_id) AS function_id FROM page_location"
              "  GROUP BY line_id) AS f USING (line_id)"
              " ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC, l.line_id"},
    {"locations", "SELECT location_id, line_id, p.function_id, address_offset, text"
                  " FROM page_location AS p LEFT JOIN code_location USING (location_id)"
                  " LEFT JOIN instruction USING (location_id)"
                  " WHERE location_id IN (SELECT location_id FROM page_cube)"
                  " AND (line_id IN (SELECT line_id FROM page_line)"
                  "      OR p.function_id IN (SELECT function_id FROM page_function))"},
    {"objects", "SELECT object_id, object_kind AS kind, object, alloc_function, alloc_file,"
                " alloc_line, size_bytes, allocations,"
                MEASURED("o", "object_id", "object_clock_finding", "NULL") FIGURES
                "FROM object_view AS o JOIN page_object USING (object_id)"},
    {"fields", "SELECT field_id, type_id, type, type_size_bytes, field, field_type,"
               " offset_bytes, size_bytes, cache_line," FIGURES
               "FROM type_view JOIN page_type USING (type_id)"},
    {"paddings", "SELECT type_id, offset_bytes, size_bytes FROM type_padding"
                 " JOIN page_type USING (type_id) ORDER BY type_id, offset_bytes"},
    {"line_objects", "SELECT line_id, object_id, field_id, sum(samples) AS samples"
                     " FROM line_object_finding JOIN page_line USING (line_id)"
                     " GROUP BY 1, 2, 3 ORDER BY line_id, 4 DESC"},
    {"callers", "SELECT caller_id, parent_id," REPORT_BASE("module") "AS module," REPORT_FUNCTION
                ", self_samples, round(self_latency_share, 6) AS self_latency_share,"
                " round(self_stalled_ratio, 6) AS self_stalled_ratio"
                " FROM caller_finding JOIN page_caller USING (caller_id) ORDER BY caller_id"},
    {"location_cells", "SELECT " CAUSE_CELLS("location_id") "FROM page_cube " OF_LOCATIONS
                       " WHERE line_id IN (SELECT line_id FROM page_line)"
                       " OR function_id IN (SELECT function_id FROM page_function) GROUP BY 1, 2, part"},
    {"object_cells", "SELECT " CAUSE_CELLS("object_id") "FROM page_cube JOIN page_object USING"
                     " (object_id) GROUP BY 1, 2, part"},
    {"field_cells", "SELECT " CAUSE_CELLS("field_id") "FROM page_cube " OF_FIELDS " GROUP BY 1, 2, part"},
    {"line_events", EVENTS("line_id", OF_LOCATIONS " JOIN page_line USING (line_id)")},
    {"function_events", EVENTS("function_id", OF_LOCATIONS " JOIN page_function USING (function_id)")},
    {"object_events", EVENTS("object_id", "JOIN page_object USING (object_id)")},
    {"field_events", EVENTS("field_id", OF_FIELDS)},
    {"caller_cells", "SELECT " CELLS("caller_id") "FROM page_cube JOIN page_path USING"
                     " (path_id) JOIN page_caller USING (caller_id) GROUP BY 1, 2"},
    {"calling", "SELECT calling_id," FILE_ID("file") "AS file_id, line FROM page_calling"},
    {"calling_cells", "SELECT calling_id AS id, span, samples, CAST(round(cost) AS INTEGER) AS cost,"
                      " CAST(round(stalled) AS INTEGER) AS stalled FROM page_calling_cell"},
    {"source", "SELECT file_id, line, text FROM annotated_text JOIN page_file ON path = file"
               " ORDER BY file_id, line"},
};

static const struct optional_table optional_tables[] = {
    {"gain_view", {"gains", "SELECT fix, gain_ratio, low, high, kind FROM gain_view"}},
    {"line_gain_view", {"line_gains", "SELECT line_id, fix, gain_ratio, low, high, kind"
                                      " FROM line_gain_view JOIN page_line USING (line_id)"}},
    {"sharing_view", {"sharing", "SELECT object_kind, object, line_address, offset, field, function,"
                                 " file, line, tid, reads, writes, hitm, stalled_ratio"
                                 " FROM sharing_view LIMIT 2000"}},
};

/* Source lines around the most costly lines, and those that call. */
static const char wanted_sql[] =
    "INSERT INTO temp.annotated_wanted WITH hot AS ("
    " SELECT file, line, module FROM line_finding JOIN page_line USING (line_id)"
    " WHERE file IS NOT NULL AND line > 0"
    " ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC LIMIT 400),"
    " led AS (SELECT caller_file, caller_line, caller_module FROM line_finding"
    "  JOIN page_line USING (line_id) WHERE caller_file IS NOT NULL AND caller_line > 0"
    "  ORDER BY stalled_ratio DESC, latency_share DESC, samples DESC LIMIT 100) "
    "SELECT NULL, file, max(line - 15, 1), min(line, 9000000000000000) + 15, module, line"
    " FROM (SELECT * FROM hot UNION SELECT * FROM led"
    "       UNION SELECT * FROM (SELECT file, line, NULL FROM page_calling ORDER BY calling_id LIMIT 100))";
/* clang-format on */

static void write_key(FILE *out, const char *key, bool first)
{
        fprintf(out, "%s\n\"%s\":", first ? "" : ",", key);
}

int page_table_write(struct db *db, const char *sql, FILE *out, struct diag *diag)
{
        sqlite3_stmt *rows;
        const char *before = "";
        int code = statement_prepare(db, sql, &rows, diag);
        if (code)
                return code;
        int count = sqlite3_column_count(rows);
        for (int i = 0; i < count; i++)
                fprintf(out, "%s\"%s\"", i ? "," : "{\"columns\":[",
                        sqlite3_column_name(rows, i));
        fputs("],\"rows\":[", out);
        while ((code = statement_next(db, rows, diag)) > 0) {
                for (int i = 0; i < count; i++) {
                        const struct cell cell = cell_of_name(rows, i);
                        fputs(i ? "," : before, out);
                        if (i == 0)
                                putc('[', out);
                        render_json_cell(out, &cell);
                }
                putc(']', out);
                before = ",\n";
        }
        sqlite3_finalize(rows);
        fputs("]}", out);
        return code;
}

/* *HAS: the recording, or its selected part, has the view NAME. */
static int has_view(struct db *db, const char *name, bool *has, struct diag *diag)
{
        sqlite3_stmt *row;
        int code =
            statement_prepare(db,
                              "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND "
                              "name = ?1",
                              &row, diag);
        if (code)
                return code;
        sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
        code = statement_next(db, row, diag);
        *has = code > 0;
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

static int write_named(struct db *db, const struct table *table, FILE *out,
                       struct diag *diag)
{
        write_key(out, table->name, false);
        return page_table_write(db, table->sql, out, diag);
}

static int write_tables(struct db *db, FILE *out, struct diag *diag)
{
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(tables) / sizeof(tables[0]); i++)
                code = write_named(db, &tables[i], out, diag);
        for (size_t i = 0;
             !code && i < sizeof(optional_tables) / sizeof(optional_tables[0]); i++) {
                bool has = false;
                code = has_view(db, optional_tables[i].view, &has, diag);
                if (has)
                        code = write_named(db, &optional_tables[i].table, out, diag);
        }
        return code;
}

static int write_provenance(const struct report_summary *summary, FILE *out,
                            struct diag *diag)
{
        char *text = NULL;
        size_t size;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
                return diag_no_memory(diag);
        report_print_provenance(memory, summary);
        int code = fclose(memory) ? diag_no_memory(diag) : 0;
        if (!code) {
                write_key(out, "provenance", false);
                render_json_text(out, text, size);
        }
        free(text);
        return code;
}

static int write_head(struct db *db, const struct report_options *options,
                      const struct report_summary *summary, FILE *out, struct diag *diag)
{
        char *text = NULL;
        size_t size;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
                return diag_no_memory(diag);
        int code = report_print_brief(db, options, summary, memory, diag);
        if (fclose(memory))
                code = diag_no_memory(diag);
        if (!code) {
                write_key(out, "head", false);
                render_json_text(out, text, size);
        }
        free(text);
        return code;
}

/* Verdict and detail of each part of the causes (judge/rules/tally.h), and the limits of
 * verdicts and sentences. */
static void write_parts_of_causes(FILE *out)
{
        write_key(out, "parts", false);
        for (int part = 0; part < TALLY_PARTS; part++)
                fprintf(out, "%s[\"%s\",\"%s\"]", part ? "," : "[",
                        verdict_name(tally_part_verdict(part)), tally_part_detail(part));
        putc(']', out);
        write_key(out, "limits", false);
        fprintf(out,
                "{\"samples\":%" PRId64 ",\"stalls\":%g,\"cost\":%g,\"hidden\":%g,"
                "\"unstalled\":%" PRId64 ",\"cacheSamples\":%" PRId64 ",\"partUse\":%g}",
                VERDICT_SAMPLES_MIN, VERDICT_STALLS_MIN, VERDICT_COST_RATIO_MIN,
                VERDICT_HIDDEN_RATIO_MAX, VERDICT_UNSTALLED_MIN, ORIGIN_SAMPLES_MIN,
                REPORT_PART_USE_MAX);
}

static void write_advice(FILE *out)
{
        const char *before = "{";
        write_key(out, "advice", false);
        for (int i = 0; i < VERDICT_COUNT; i++) {
                const char *name = verdict_name((enum verdict)i);
                const struct report_advice *advice = report_advice_on(name);
                if (!advice)
                        continue;
                fprintf(out, "%s\"%s\":[", before, name);
                render_json_text(out, advice->meaning, strlen(advice->meaning));
                putc(',', out);
                render_json_text(out, advice->remedy, strlen(advice->remedy));
                putc(']', out);
                before = ",";
        }
        fputs(*before == '{' ? "{}" : "}", out);
}

/* The conditions of fixes that have gains, in words. */
static int write_fixes(struct db *db, FILE *out, struct diag *diag)
{
        const char *before = "{";
        sqlite3_stmt *row;
        int code = statement_prepare(
            db, "SELECT DISTINCT fix FROM gain_finding ORDER BY fix", &row, diag);
        write_key(out, "fixes", false);
        while (!code && (code = statement_next(db, row, diag)) > 0) {
                const char *fix = statement_text(row, 0);
                char *words = NULL;
                size_t size;
                FILE *memory = open_memstream(&words, &size);
                code = 0;
                if (memory)
                        report_say_condition(memory, fix);
                if (!memory || fclose(memory)) {
                        code = diag_no_memory(diag);
                } else {
                        fputs(before, out);
                        render_json_text(out, fix, strlen(fix));
                        putc(':', out);
                        render_json_text(out, words, size);
                        before = ",";
                }
                free(words);
        }
        sqlite3_finalize(row);
        fputs(*before == '{' ? "{}" : "}", out);
        return code;
}

/* The data includes notes on missing or newer files. */
static int read_source(struct db *db, const struct report_options *options,
                       const struct source_search *search, FILE *out, struct diag *diag)
{
        char *notes = NULL;
        size_t size;
        FILE *memory = open_memstream(&notes, &size);
        if (!memory)
                return diag_no_memory(diag);
        int code = source_lines_prepare(db, diag);
        if (!code && options->source_text)
                code = statement_run_all(db, wanted_sql, diag);
        if (!code)
                code = source_lines_read_wanted(db, search, memory, diag);
        if (fclose(memory))
                code = diag_no_memory(diag);
        if (!code) {
                write_key(out, "source_notes", false);
                render_json_text(out, notes, size);
        }
        free(notes);
        return code;
}

struct writing {
        struct db *db;
        const struct report_options *options;
        const struct report_summary *summary;
        const struct source_search *search;
};

static int write_parts(const void *context, FILE *out, struct diag *diag)
{
        const struct writing *w = context;
        struct page_grid grid;
        int code = page_samples_prepare(w->db, &grid, diag);
        if (!code)
                code = page_calls_prepare(w->db, &grid, diag);
        putc('{', out);
        write_key(out, "file", true);
        const char *file = w->options->file ? w->options->file : "memlag.db";
        render_json_text(out, file, strlen(file));
        if (!code)
                code = write_provenance(w->summary, out, diag);
        if (!code)
                code = write_head(w->db, w->options, w->summary, out, diag);
        if (!code)
                code = read_source(w->db, w->options, w->search, out, diag);
        if (!code)
                write_advice(out);
        if (!code)
                code = write_fixes(w->db, out, diag);
        if (!code)
                write_parts_of_causes(out);
        if (!code)
                code = write_tables(w->db, out, diag);
        fputs("}\n", out);
        return code;
}

int page_write(struct db *db, const struct report_options *options,
               const struct report_summary *summary, const struct source_search *search,
               FILE *out, struct diag *diag)
{
        const struct writing writing = {db, options, summary, search};
        return page_assemble(PAGE_REPORT, write_parts, &writing, out, diag);
}
