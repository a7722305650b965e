/* SPDX-License-Identifier: MIT */
/* From a query to a renderer: reports in CSV and JSON, and the table for people. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "statement.h"

/* The names of all columns; the caller frees the array, not the names. */
static const char **column_names(sqlite3_stmt *statement, const struct report_rows *rows)
{
        size_t count = (size_t)sqlite3_column_count(statement) - rows->left_out;
        const char **names = calloc(count + rows->extra_count + 1, sizeof(*names));
        if (!names)
                return NULL;
        for (size_t i = 0; i < count; i++)
                names[i] = sqlite3_column_name(statement, (int)(i + rows->left_out));
        for (size_t i = 0; i < rows->extra_count; i++)
                names[count + i] = rows->extra_names[i];
        return names;
}

static void fill_cells(sqlite3_stmt *statement, const struct report_rows *rows,
                       struct cell *cells)
{
        size_t count = (size_t)sqlite3_column_count(statement) - rows->left_out;
        for (size_t i = 0; i < count; i++) {
                cells[i] = cell_of_name(statement, (int)(i + rows->left_out));
                if (rows->alignment)
                        cells[i].right = rows->alignment[i + rows->left_out] == 'r';
        }
        for (size_t i = 0; i < rows->extra_count; i++)
                cells[count + i] = rows->extra[i];
}

/* CODE: of STATEMENT's first step. */
static int render_statement(struct db *db, sqlite3_stmt *statement, int code,
                            const struct report_rows *rows, enum format format, FILE *out,
                            struct diag *diag)
{
        size_t count =
            (size_t)sqlite3_column_count(statement) - rows->left_out + rows->extra_count;
        const char **names = column_names(statement, rows);
        struct cell *cells = calloc(count + 1, sizeof(*cells));
        struct render *render =
            names ? render_begin(format, out, names, count, rows->width) : NULL;
        if (!cells || !render)
                code = diag_no_memory(diag);
        else if (rows->short_names)
                render_shorten_names(render);
        while (code > 0) {
                fill_cells(statement, rows, cells);
                code = render_row(render, cells) ? diag_no_memory(diag)
                                                 : statement_next(db, statement, diag);
        }
        render_end(render);
        free(cells);
        free(names);
        return code;
}

void report_bind_choice(sqlite3_stmt *statement, const struct report_choice *choice)
{
        sqlite3_bind_text(statement, 2, choice->function, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, choice->module, -1, SQLITE_STATIC);
        sqlite3_bind_int(statement, 4, choice->by_latency);
}

int report_render(struct db *db, const struct report_rows *rows, enum format format,
                  FILE *out, struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = statement_prepare(db, rows->sql, &statement, diag);
        if (code)
                return code;
        if (sqlite3_bind_parameter_count(statement) > 0)
                sqlite3_bind_int64(statement, 1, rows->top);
        if (sqlite3_bind_parameter_count(statement) > 1)
                report_bind_choice(statement, &rows->choice);
        code = statement_next(db, statement, diag);
        const bool none = code == 0 && rows->none;
        if (none)
                prose_wrapped(out, rows->none);
        else
                code = render_statement(db, statement, code, rows, format, out, diag);
        sqlite3_finalize(statement);
        return none ? 1 : code;
}

static struct cell text_cell(const char *text)
{
        return text ? (struct cell){.type = CELL_TEXT,
                                    .bytes = text,
                                    .length = strlen(text)}
                    : (struct cell){.type = CELL_NULL};
}

/* Without counters, an interval only has its timer samples. */
static const char *rows_sql(const struct report_options *options,
                            const struct report_summary *summary)
{
        return summary->timed && summary->intervals == 0
                   ? report_kind_of_stalls(options->kind).rows_sql
                   : options->kind->rows_sql;
}

/* A comment line would break parsers: every row states its source. */
int report_csv(struct db *db, const struct report_options *options,
               const struct report_summary *summary, FILE *out, struct diag *diag)
{
        static const char *const extra_names[] = {"source", "numbers"};
        const struct cell extra[] = {text_cell(summary->source),
                                     text_cell(summary->numbers)};
        const struct report_rows rows = {.sql = rows_sql(options, summary),
                                         .top = options->top,
                                         .choice = options->choice,
                                         .extra_names = extra_names,
                                         .extra = extra,
                                         .extra_count = 2};
        return report_render(db, &rows, FORMAT_CSV, out, diag);
}

static int json_rows(struct db *db, const char *key, const struct report_rows *rows,
                     FILE *out, struct diag *diag)
{
        fprintf(out, ",\n\"%s\": ", key);
        return report_render(db, rows, FORMAT_JSON, out, diag);
}

/* The keys of run_info as one object. */
static int json_run(struct db *db, FILE *out, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(db, "SELECT key, value FROM run_info ORDER BY key",
                                     &rows, diag);
        const char *separator = "\n ";
        fputs("\"run\": {", out);
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                struct cell key = cell_of_name(rows, 0), value = cell_of_name(rows, 1);
                fputs(separator, out);
                render_json_text(out, key.bytes, key.length);
                fputs(": ", out);
                render_json_cell(out, &value);
                separator = ",\n ";
                code = 0;
        }
        fputs("\n}", out);
        sqlite3_finalize(rows);
        return code;
}

int report_json_head(struct db *db, const struct report_summary *summary, FILE *out,
                     struct diag *diag)
{
        struct cell source = text_cell(summary->source);
        struct cell numbers = text_cell(summary->numbers);
        struct cell note = text_cell(summary->model_note);
        fputs("{\"source\": ", out);
        render_json_cell(out, &source);
        fputs(", \"numbers\": ", out);
        render_json_cell(out, &numbers);
        fputs(", \"model_note\": ", out);
        render_json_cell(out, &note);
        fprintf(out, ", \"cut_off\": %s,\n", summary->cut_off ? "true" : "false");
        return json_run(db, out, diag);
}

int report_json(struct db *db, const struct report_options *options,
                const struct report_summary *summary, FILE *out, struct diag *diag)
{
        const struct report_rows thresholds = {.sql = "SELECT * FROM threshold"};
        const struct report_rows ledger = {.sql = "SELECT * FROM ledger"};
        const struct report_rows rows = {.sql = rows_sql(options, summary),
                                         .top = options->top,
                                         .choice = options->choice};
        int code = report_json_head(db, summary, out, diag);
        if (!code)
                code = json_rows(db, "thresholds", &thresholds, out, diag);
        if (!code)
                code = json_rows(db, "ledger", &ledger, out, diag);
        fprintf(out, ",\n\"by\": \"%s\"", options->kind->name);
        if (!code)
                code = json_rows(db, "rows", &rows, out, diag);
        fputs("\n}\n", out);
        return code;
}
