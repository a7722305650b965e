/* SPDX-License-Identifier: MIT */
/* Tables for people: one per file of a block, with source text in the last column. Also
 * rows for programs. */
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report_sql.h"
#include "short_name.h"
#include "statement.h"

/* SQL is laid out as SQL. */
/* clang-format off */

/* Places of a line in report order, blocks in command-line order. */
#define PLACES \
        " place AS (SELECT *, row_number() OVER (PARTITION BY block_id, file, line" \
        "  ORDER BY inlined, stalled_ratio DESC, latency_share DESC, samples DESC, place_id)" \
        "  AS place_rank FROM annotated_row WHERE level = 0)," \
        " ordered AS (SELECT block_id, row_number() OVER (ORDER BY b.choice_order," \
        "  total(r.stalled_ratio) DESC, total(r.latency_share) DESC, block_id) AS block_order," \
        "  max(r.stalled_ratio) AS most_stalled, max(r.latency_share) AS most_latency" \
        "  FROM annotated_block AS b LEFT JOIN annotated_row AS r" \
        "   USING (block_id) WHERE coalesce(level, 0) = 0 GROUP BY block_id) "

/* A file with text may be shown without samples on its lines. */
static const char blocks_sql[] =
    "WITH" PLACES
    "SELECT b.block_id, coalesce(b.file || coalesce(':' || b.first_line"
    "        || iif(b.last_line > b.first_line, '-' || b.last_line, ''), ''),"
             REPORT_FUNCTION_NAME "|| iif(function IS NULL, '', ' in ' ||" REPORT_BASE("module") ")),"
    " total(r.samples), sum(r.latency_share), sum(r.stalled_ratio),"
    " total(iif(r.inlined, r.samples, 0)) "
    "FROM annotated_block AS b JOIN ordered USING (block_id)"
    " LEFT JOIN (SELECT block_id, inlined, samples, latency_share, stalled_ratio FROM place)"
    "  AS r USING (block_id) GROUP BY b.block_id ORDER BY block_order";

#define BLANK(column) " iif(level < 0, ''," column ")"
#define SHARE(column) BLANK(REPORT_SHARE(column))
#define ONLY_PLACE(column) " iif(level <> 0 OR inlined, ''," column ")"

/* The accessed object or field, in a row of level 2. */
#define ACCESS \
    " iif(type IS NULL, '', type || coalesce('.' || field, '') || ' of ')" \
    " || coalesce(object, '[unknown]') || coalesce(', no type: ' || untyped, '')" \
    " || coalesce((SELECT CASE w.source" \
    "   WHEN 'allocation' THEN ', allocated ' || coalesce('for ' || w.pointer, 'as that')" \
    "   WHEN 'instruction' THEN ', by ' || coalesce(w.pointer, 'its instruction')" \
    "   WHEN 'argument' THEN ', called with ' || coalesce(w.pointer, 'that')" \
    "   WHEN 'function' THEN ', by its function' END" \
    "  FROM type_source AS w WHERE w.type_source_id = told_by), '') "

/* Whether to show a place's instructions, by ?2 (enum show_instructions). A place without
 * a known line has nothing else to show. The same rule applies to accesses, except rare
 * ones. */
#define IS_HOT \
    " CASE ?2 WHEN 0 THEN 0 WHEN 1 THEN" \
    "  file IS NULL OR line IS NULL" \
    "  OR latency_share >= 0.1 * sum(latency_share) OVER (PARTITION BY block_id)" \
    "  OR stalled_ratio >= 0.1 * sum(stalled_ratio) OVER (PARTITION BY block_id)" \
    " ELSE 1 END "

/* One block, ?1. Rows without samples have levels below 0: source lines -1, neighbouring
 * instructions -2. Columns: file, line, whether the last column has names, then the
 * table's columns. An instruction's only access is shown in the instruction's row. */
#define LINES_SQL(figures) \
    "WITH" PLACES "," \
    " hot AS (SELECT place_id, place_rank," IS_HOT "AS hot FROM place WHERE block_id = ?1)," \
    " shown AS (" \
    "  SELECT r.*, place_rank," \
    "   CASE r.level WHEN 0 THEN iif(r.inlined OR place_rank > 1, NULL," \
    "     (SELECT text FROM annotated_text AS t WHERE t.file = r.file AND t.line = r.line))" \
    "   WHEN 1 THEN" \
    "     (SELECT text FROM annotated_code AS c WHERE c.location_id = r.location_id) END" \
    "   AS text," \
    "   iif(r.level = 1 AND r.parts = 1," \
    "   (SELECT iif(coalesce(type, object, untyped) IS NULL, '', '  # ' ||" ACCESS ")" \
    "    FROM annotated_row AS a" \
    "    WHERE a.place_id = r.place_id AND a.level = 2 AND a.location_id = r.location_id), '')" \
    "   AS access" \
    "  FROM hot JOIN annotated_row AS r USING (place_id)" \
    "  WHERE r.level = 0 OR hot AND (r.level = 1 OR EXISTS" \
    "   (SELECT 1 FROM annotated_row AS i WHERE i.place_id = r.place_id AND i.level = 1" \
    "     AND i.location_id = r.location_id AND i.parts > 1" \
    "     AND (?2 = 2 OR 20 * r.samples >= i.samples)))" \
    "  UNION ALL" \
    "  SELECT DISTINCT -2, ?1, r.place_id, NULL, r.inlined, r.file, r.line, NULL, NULL, NULL," \
    "   NULL, NULL, n.address_offset, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL," \
    "   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, place_rank, n.text, NULL" \
    "  FROM hot JOIN annotated_row AS r USING (place_id)" \
    "   JOIN annotated_neighbour AS n USING (location_id)" \
    "  WHERE r.level = 1 AND NOT EXISTS (SELECT 1 FROM annotated_row AS i" \
    "   WHERE i.place_id = r.place_id AND i.level = 1 AND i.module IS r.module" \
    "    AND i.address_offset = n.address_offset)" \
    "  UNION ALL" \
    "  SELECT DISTINCT -1, ?1, NULL, NULL, 0, t.file, t.line, NULL, NULL, NULL, NULL, NULL," \
    "   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL," \
    "   NULL, NULL, NULL, NULL, 0, t.text, NULL" \
    "  FROM annotated_wanted AS w JOIN annotated_text AS t ON t.file = w.file" \
    "   AND t.line BETWEEN w.first AND w.last" \
    "  WHERE w.block_id = ?1 AND NOT EXISTS (SELECT 1 FROM place AS p WHERE p.block_id = ?1" \
    "   AND p.file = t.file AND p.line = t.line AND NOT p.inlined)) " \
    "SELECT file, iif(level NOT IN (-1, 0) OR place_rank > 1, NULL, line)," \
    " level > 0 OR level = 0 AND text IS NULL," figures \
    " iif(level NOT IN (-1, 0) OR place_rank > 1 OR file IS NULL, '', coalesce(line, '?')) AS line," \
    " CASE WHEN level = -1 THEN text" \
    "      WHEN level = -2 THEN printf('%12x:  ', address_offset) || text" \
    "      WHEN level = 1 THEN printf('%12x:  ', address_offset) || coalesce(text, '') || access" \
    "      WHEN level = 2 THEN printf('%16s# ', '') ||" ACCESS \
    "      WHEN inlined THEN '    inlined ' ||" REPORT_FUNCTION_NAME \
    "       || coalesce(', ' ||" REPORT_BASE("own_file") \
    "                   || ':' || coalesce(own_line, '?'), '')" \
    "      ELSE coalesce(text, '    ' ||" REPORT_FUNCTION_NAME ") END AS source " \
    "FROM shown ORDER BY file IS NULL, file, shown.line, place_rank, place_id," \
    " address_offset, location_id, level, stalled_ratio DESC, latency_share DESC, samples DESC"

/* Accesses of one instruction share its time. */
#define FIGURES_OF_LOADS \
    " iif(level IN (0, 1)," REPORT_SHARE("measured_ratio") ", '') AS measured," \
    SHARE("stalled_ratio") " AS stalled," SHARE("latency_share") " AS latency," \
    BLANK("samples") " AS samples," \
    BLANK(REPORT_DRAM) " AS DRAM," \
    BLANK(" iif(mean_latency_cycles IS NULL, '-', printf('%.0f', mean_latency_cycles))") \
    " AS mean," \
    BLANK(" iif(contended_samples IS NULL, '-'," \
          "     printf('%.0f%%', 100.0 * contended_samples / samples))") " AS contended," \
    ONLY_PLACE(" coalesce(" REPORT_VERDICT_NAME ", '-')") " AS verdict,"
#define FIGURES_OF_STALLS \
    SHARE("latency_share") " AS stalled," BLANK("samples") " AS samples,"

static const char loads_sql[] = LINES_SQL(FIGURES_OF_LOADS);
static const char stalls_sql[] = LINES_SQL(FIGURES_OF_STALLS);

/* ?1: the last level. */
static const char rows_sql[] =
    "WITH" PLACES
    "SELECT iif(b.file IS NULL,"
    "           (SELECT" REPORT_FUNCTION_NAME
    "            FROM annotated_block AS f WHERE f.block_id = b.block_id), b.file)"
    " AS annotated,"
    " CASE r.level WHEN 0 THEN iif(r.inlined, 'inlined', 'line') WHEN 1 THEN 'instruction'"
    " ELSE 'access' END AS kind, r.file AS file, r.line AS line,"
    " iif(r.level = 0, (SELECT text FROM annotated_text AS t"
    "  WHERE t.file = r.file AND t.line = r.line), NULL) AS source_text,"
    " r.module, r.function, r.function_offset,"
    " iif(r.inlined, r.own_file, NULL) AS inlined_file,"
    " iif(r.inlined, r.own_line, NULL) AS inlined_line,"
    " r.address_offset, iif(r.level = 1, (SELECT text FROM annotated_code AS c"
    "  WHERE c.location_id = r.location_id), NULL) AS instruction,"
    " r.object_kind, r.object, r.type, r.field,"
    " r.samples, r.dram_samples, r.mean_latency_cycles, r.p95_latency_cycles,"
    " r.latency_share, r.contended_samples, r.verdict, r.stalled_ratio, r.cache_level,"
    " r.level_samples, (SELECT n.access_bytes FROM instruction AS n"
    "  WHERE n.location_id = r.location_id) AS access_bytes, r.untyped,"
    " w.source AS type_source, w.pointer AS type_pointer, t.function AS type_function,"
    " t.file AS type_file, t.line AS type_line, r.measured_ratio "
    "FROM (SELECT block_id, place_id, place_rank FROM place) AS p"
    " JOIN annotated_row AS r USING (block_id, place_id)"
    " JOIN ordered USING (block_id) JOIN annotated_block AS b USING (block_id)"
    " LEFT JOIN type_source AS w ON w.type_source_id = r.told_by"
    " LEFT JOIN location AS t ON t.location_id = w.location_id "
    "WHERE r.level <= ?1 "
    "ORDER BY block_order, r.file IS NULL, r.file, r.line, place_rank, place_id,"
    " r.address_offset, r.location_id, level, r.stalled_ratio DESC, r.latency_share DESC,"
    " r.samples DESC";
/* clang-format on */

enum { COLUMN_FILE, COLUMN_LINE, COLUMN_NAMES, COLUMN_CELLS };

/* Limit for rows with names, unless the user wants whole names. */
enum { TEXT_BYTES = 100 };

/* ---- for people ---- */

struct shape {
        const char *sql;
        const char *alignment; /* of the cells */
        size_t left_out;       /* number of leading columns that are no cells */
        bool whole_names;
};

static struct shape shape_of(const struct report_summary *summary, bool whole_names)
{
        if (summary->timed)
                return (struct shape){stalls_sql, "rrrl", 0, whole_names};
        return (struct shape){loads_sql, "rrrrrrrlrl",
                              summary->has_first_run
                                  ? 0
                                  : 1 + (isnan(summary->loads_stalled_ratio) != 0),
                              whole_names};
}

static int begin_table(struct render **render, const char **names, size_t count,
                       sqlite3_stmt *row, size_t width, FILE *out, struct diag *diag)
{
        char *file = statement_printable(row, COLUMN_FILE);
        if (file)
                fprintf(out, "%s\n", file);
        free(file);
        *render = render_begin(FORMAT_TABLE, out, names, count, width);
        return *render ? 0 : diag_no_memory(diag);
}

static bool same_file(const char *file, sqlite3_stmt *row)
{
        const char *other = (const char *)sqlite3_column_text(row, COLUMN_FILE);
        return file == other || (file && other && strcmp(file, other) == 0);
}

/* Separates lines that are not consecutive. */
static int render_gap(struct render *render, struct cell *cells, size_t count)
{
        for (size_t i = 0; i < count; i++)
                cells[i] = (struct cell){.type = CELL_TEXT, .bytes = "", .length = 0};
        cells[count - 1] = (struct cell){.type = CELL_TEXT, .bytes = "...", .length = 3};
        return render_row(render, cells);
}

static int render_line(struct render *render, const struct shape *shape,
                       sqlite3_stmt *row, struct cell *cells, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                size_t column = i + shape->left_out;
                cells[i] = cell_of_name(row, (int)(COLUMN_CELLS + column));
                cells[i].right = shape->alignment[column] == 'r';
        }
        struct cell *text = &cells[count - 1];
        char *shorter = NULL;
        if (!shape->whole_names && sqlite3_column_int(row, COLUMN_NAMES) &&
            text->length > TEXT_BYTES &&
            (shorter = short_name(text->bytes, &text->length, TEXT_BYTES)))
                text->bytes = shorter;
        int code = render_row(render, cells);
        free(shorter);
        return code;
}

/* Prints the tables of one block; ROWS will be at its first row. */
static int show_tables(struct db *db, const struct shape *shape, sqlite3_stmt *rows,
                       size_t width, FILE *out, struct diag *diag)
{
        size_t count =
            (size_t)sqlite3_column_count(rows) - COLUMN_CELLS - shape->left_out;
        const char **names = calloc(count + 1, sizeof(*names));
        struct cell *cells = calloc(count + 1, sizeof(*cells));
        struct render *render = NULL;
        char *file = NULL;
        int64_t line_before = 0;
        int code = names && cells ? 0 : diag_no_memory(diag);
        for (size_t i = 0; !code && i < count; i++)
                names[i] =
                    sqlite3_column_name(rows, (int)(COLUMN_CELLS + shape->left_out + i));
        while (!code && (code = statement_next(db, rows, diag)) > 0) {
                const char *name = (const char *)sqlite3_column_text(rows, COLUMN_FILE);
                int64_t line = sqlite3_column_int64(rows, COLUMN_LINE);
                code = 0;
                if (!render || !same_file(file, rows)) {
                        render_end(render);
                        free(file);
                        file = name ? strdup(name) : NULL;
                        code = begin_table(&render, names, count, rows, width, out, diag);
                } else if (line > line_before && line - line_before > 1 &&
                           render_gap(render, cells, count)) {
                        code = diag_no_memory(diag);
                }
                if (!code && render_line(render, shape, rows, cells, count))
                        code = diag_no_memory(diag);
                if (line > 0)
                        line_before = line;
        }
        render_end(render);
        free(file);
        free(names);
        free(cells);
        return code;
}

/* Columns: see blocks_sql. */
static void show_heading(sqlite3_stmt *block, bool timed, FILE *out)
{
        char *name = statement_printable(block, 1);
        int64_t samples = sqlite3_column_int64(block, 2);
        int64_t inlined = sqlite3_column_int64(block, 5);
        fprintf(out, "%s: ", name ? name : "");
        prose_counted(out, samples, "samples");
        if (sqlite3_column_type(block, 3) != SQLITE_NULL)
                fprintf(out, ", %.1f%% of the %s", 100 * sqlite3_column_double(block, 3),
                        timed ? "time" : "latency");
        if (sqlite3_column_type(block, 4) != SQLITE_NULL)
                fprintf(out, ", stalled %.1f%% of the cycles",
                        100 * sqlite3_column_double(block, 4));
        if (inlined > 0)
                fprintf(out, "; %" PRId64 " of them in inlined functions", inlined);
        fputs("\n\n", out);
        free(name);
}

static int show_blocks(struct db *db, const struct show_options *options,
                       const struct report_summary *summary, FILE *out, struct diag *diag)
{
        const struct shape shape = shape_of(summary, options->whole_names);
        sqlite3_stmt *blocks = NULL, *rows = NULL;
        int code = statement_prepare(db, blocks_sql, &blocks, diag);
        if (!code)
                code = statement_prepare(db, shape.sql, &rows, diag);
        while (!code && (code = statement_next(db, blocks, diag)) > 0) {
                show_heading(blocks, summary->timed, out);
                sqlite3_bind_int64(rows, 1, sqlite3_column_int64(blocks, 0));
                sqlite3_bind_int(rows, 2, (int)options->instructions);
                code = show_tables(db, &shape, rows, options->width, out, diag);
                sqlite3_reset(rows);
                putc('\n', out);
        }
        sqlite3_finalize(blocks);
        sqlite3_finalize(rows);
        return code;
}

static void show_legend(const struct report_summary *summary, const char *notes,
                        FILE *out)
{
        if (summary->timed)
                prose_wrapped(out, REPORT_STALLS_LEGEND);
        else
                prose_wrapped(out, REPORT_SHARE_LEGEND REPORT_DRAM_LEGEND
                              ": cycles" REPORT_CONTENDED_LEGEND);
        if (!summary->timed && !isnan(summary->loads_stalled_ratio))
                report_explain_stalled(out, summary);
        while (*notes) {
                size_t length = strcspn(notes, "\n");
                char *sentence = strndup(notes, length);
                if (sentence)
                        prose_wrapped(out, sentence);
                free(sentence);
                notes += length + (notes[length] == '\n');
        }
}

/* ---- for programs ---- */

static struct cell text_cell(const char *text)
{
        return text ? (struct cell){.type = CELL_TEXT,
                                    .bytes = text,
                                    .length = strlen(text)}
                    : (struct cell){.type = CELL_NULL};
}

/* All instructions, or none: programs select by themselves. */
static int64_t last_level(const struct show_options *options)
{
        return options->instructions == SHOW_NO_INSTRUCTIONS ? 0 : 2;
}

static int show_csv(struct db *db, const struct show_options *options,
                    const struct report_summary *summary, FILE *out, struct diag *diag)
{
        static const char *const extra_names[] = {"source", "numbers"};
        const struct cell extra[] = {text_cell(summary->source),
                                     text_cell(summary->numbers)};
        const struct report_rows rows = {.sql = rows_sql,
                                         .top = last_level(options),
                                         .extra_names = extra_names,
                                         .extra = extra,
                                         .extra_count = 2};
        return report_render(db, &rows, FORMAT_CSV, out, diag);
}

static int show_json(struct db *db, const struct show_options *options,
                     const struct report_summary *summary, FILE *out, struct diag *diag)
{
        const struct report_rows rows = {.sql = rows_sql, .top = last_level(options)};
        int code = report_json_head(db, summary, out, diag);
        fputs(",\n\"rows\": ", out);
        if (!code)
                code = report_render(db, &rows, FORMAT_JSON, out, diag);
        fputs("\n}\n", out);
        return code;
}

int show(struct db *db, const struct show_options *options,
         const struct report_summary *summary, const char *notes, FILE *out,
         struct diag *diag)
{
        if (options->format == FORMAT_CSV)
                return show_csv(db, options, summary, out, diag);
        if (options->format == FORMAT_JSON)
                return show_json(db, options, summary, out, diag);
        report_print_head(out, summary, false);
        int code = show_blocks(db, options, summary, out, diag);
        if (!code)
                show_legend(summary, notes, out);
        return code;
}
