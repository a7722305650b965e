/* SPDX-License-Identifier: MIT */
/* The processed profile format of the Firefox Profiler, version 60; the profiler upgrades
 * older versions. Samples have their threads; their times are accurate to short spans. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "page_parts.h"
#include "render.h"
#include "statement.h"

enum { FORMAT_VERSION = 60, META_VERSION = 30 };

/* Indices into the list of categories that write_meta writes. */
enum category { CATEGORY_OTHER, CATEGORY_PROGRAM, CATEGORY_LIBRARY, CATEGORY_KERNEL };

static enum category category_of(const struct call_function *function)
{
        if (function->module[0] == '[')
                return strstr(function->module, "kernel") ? CATEGORY_KERNEL
                                                          : CATEGORY_OTHER;
        return strstr(function->module, ".so") ? CATEGORY_LIBRARY : CATEGORY_PROGRAM;
}

static void write_text(FILE *out, const char *text)
{
        render_json_text(out, text, strlen(text));
}

static void write_meta(FILE *out, const struct report_summary *summary,
                       const struct page_grid *grid, const char *provenance)
{
        fputs("{\"meta\":{\"product\":", out);
        write_text(out, summary->command ? summary->command : "memlag");
        fputs(",\"importedFrom\":\"memlag\",\"sourceURL\":\"\",\"misc\":", out);
        write_text(out, provenance);
        fprintf(
            out,
            ",\"interval\":%.6f,\"startTime\":0,\"processType\":0,\"stackwalk\":1,"
            "\"debug\":false,\"version\":%d,\"preprocessedProfileVersion\":%d,"
            "\"symbolicated\":true,\"markerSchema\":[],\"categories\":["
            "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
            "{\"name\":\"Program\",\"color\":\"orange\",\"subcategories\":[\"Other\"]"
            "},"
            "{\"name\":\"Library\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
            "{\"name\":\"Kernel\",\"color\":\"darkgrey\",\"subcategories\":[\"Other\"]"
            "}]},\n\"libs\":[],\"pages\":[],\"counters\":[],\n",
            1e-6 * (double)grid->span_ns, META_VERSION, FORMAT_VERSION);
}

/* Writes "NAME":[VALUE,...] with LENGTH equal values. */
static void write_equal(FILE *out, const char *name, const char *value, size_t length)
{
        fprintf(out, ",\"%s\":[", name);
        for (size_t i = 0; i < length; i++)
                fprintf(out, "%s%s", i ? "," : "", value);
        putc(']', out);
}

static void write_numbers(FILE *out, const char *name, size_t length)
{
        fprintf(out, ",\"%s\":[", name);
        for (size_t i = 0; i < length; i++)
                fprintf(out, "%s%zu", i ? "," : "", i);
        putc(']', out);
}

static void write_stacks(FILE *out, const struct call_tree *tree)
{
        fprintf(out, "\"stackTable\":{\"length\":%zu,\"frame\":[", tree->count);
        for (size_t i = 0; i < tree->count; i++)
                fprintf(out, "%s%zu", i ? "," : "", tree->calls[i].function);
        fputs("],\"prefix\":[", out);
        for (size_t i = 0; i < tree->count; i++)
                if (tree->calls[i].parent == SIZE_MAX)
                        fputs(i ? ",null" : "null", out);
                else
                        fprintf(out, "%s%zu", i ? "," : "", tree->calls[i].parent);
        fputs("]},\n", out);
}

/* A function has one frame; its module is the resource. */
static void write_frames(FILE *out, const struct call_tree *tree)
{
        const size_t count = tree->function_count;
        fprintf(out, "\"frameTable\":{\"length\":%zu,\"category\":[", count);
        for (size_t i = 0; i < count; i++)
                fprintf(out, "%s%d", i ? "," : "", category_of(&tree->functions[i]));
        putc(']', out);
        write_equal(out, "address", "-1", count);
        write_equal(out, "inlineDepth", "0", count);
        write_equal(out, "subcategory", "0", count);
        write_numbers(out, "func", count);
        write_equal(out, "nativeSymbol", "null", count);
        write_equal(out, "innerWindowID", "null", count);
        write_equal(out, "line", "null", count);
        write_equal(out, "column", "null", count);
        fprintf(out, "},\n\"funcTable\":{\"length\":%zu", count);
        write_numbers(out, "name", count);
        write_equal(out, "isJS", "false", count);
        write_equal(out, "relevantForJS", "false", count);
        write_numbers(out, "resource", count);
        write_equal(out, "source", "null", count);
        write_equal(out, "lineNumber", "null", count);
        write_equal(out, "columnNumber", "null", count);
        fputs("},\n", out);
}

/* Texts: the names of all functions, followed by their modules. */
static void write_shared(FILE *out, const struct call_tree *tree)
{
        const size_t count = tree->function_count;
        fputs("\"shared\":{", out);
        write_stacks(out, tree);
        write_frames(out, tree);
        fprintf(out, "\"resourceTable\":{\"length\":%zu,\"name\":[", count);
        for (size_t i = 0; i < count; i++)
                fprintf(out, "%s%zu", i ? "," : "", count + i);
        putc(']', out);
        write_equal(out, "lib", "null", count);
        write_equal(out, "host", "null", count);
        write_equal(out, "type", "1", count);
        fputs("},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],"
              "\"name\":[],\"functionSize\":[]},\n\"sources\":{\"length\":0,\"uuid\":[],"
              "\"filename\":[]},\n\"stringArray\":[",
              out);
        for (size_t i = 0; i < 2 * count; i++) {
                fputs(i ? "," : "", out);
                write_text(out, i < count ? tree->functions[i].name
                                          : tree->functions[i - count].module);
        }
        fputs("]},\n", out);
}

/* ---- threads ---- */

/* SQL is laid out as SQL. ?1 is the thread; the order of caller_id gives a call's index.
 */
/* clang-format off */
#define SAMPLED(weight) \
        "SELECT max(0, c.caller_id - 1), (g.from_ns + (span + 0.5) * g.span_ns) / 1e6," \
        " CAST(round(sum(" weight ")) AS INTEGER) AS weight" \
        " FROM page_grid AS g, page_cube JOIN page_path AS c USING (path_id)" \
        " WHERE thread_id = ?1 GROUP BY span, c.caller_id HAVING weight > 0 ORDER BY span"
static const char *const samples_sql[] = {
    [EXPORT_STALLED] = SAMPLED("stalled / 1e3"),
    [EXPORT_LATENCY] = SAMPLED("1e6 * cost / (SELECT sum(cost) FROM page_cube)"),
    [EXPORT_SAMPLES] = SAMPLED("samples"),
};
static const char threads_sql[] =
    "SELECT thread_id, pid, tid, coalesce(t.name, p.process, ''), coalesce(p.process, ''),"
    " tid = pid, t.start_ns / 1e6, t.end_ns / 1e6"
    " FROM thread AS t JOIN process_view AS p USING (process_id)"
    " WHERE thread_id IN (SELECT thread_id FROM page_cube) ORDER BY pid, tid <> pid, thread_id";
/* clang-format on */

struct writing {
        struct db *db;
        FILE *out;
        enum export_weight weight;
        struct diag *diag;
};

/* Each column of samples is a separate list: reads the rows once per column. */
static int write_column(const struct writing *writing, sqlite3_stmt *rows,
                        const char *name, int column)
{
        int64_t count = 0;
        int code;
        fprintf(writing->out, ",\"%s\":[", name);
        while ((code = statement_next(writing->db, rows, writing->diag)) > 0) {
                fputs(count++ ? "," : "", writing->out);
                if (column == 1)
                        fprintf(writing->out, "%.6f",
                                sqlite3_column_double(rows, column));
                else
                        fprintf(writing->out, "%" PRId64,
                                (int64_t)sqlite3_column_int64(rows, column));
        }
        putc(']', writing->out);
        if (!code && column == 2)
                fprintf(writing->out, ",\"length\":%" PRId64 "}", count);
        sqlite3_reset(rows);
        return code;
}

static int write_samples(const struct writing *writing, int64_t thread_id)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(writing->db, samples_sql[writing->weight], &rows,
                                     writing->diag);
        if (code)
                return code;
        sqlite3_bind_int64(rows, 1, thread_id);
        fputs(",\"samples\":{\"weightType\":\"samples\"", writing->out);
        code = write_column(writing, rows, "stack", 0);
        if (!code)
                code = write_column(writing, rows, "time", 1);
        if (!code)
                code = write_column(writing, rows, "weight", 2);
        sqlite3_finalize(rows);
        return code;
}

static int write_thread(const struct writing *writing, sqlite3_stmt *row)
{
        FILE *out = writing->out;
        fputs("{\"processType\":\"default\",\"name\":", out);
        write_text(out, statement_text(row, 3));
        fputs(",\"processName\":", out);
        write_text(out, statement_text(row, 4));
        fprintf(
            out,
            ",\"pid\":\"%" PRId64 "\",\"tid\":%" PRId64
            ",\"isMainThread\":%s,\"processStartupTime\":0,"
            "\"processShutdownTime\":null,\"registerTime\":%.6f,\"unregisterTime\":",
            (int64_t)sqlite3_column_int64(row, 1), (int64_t)sqlite3_column_int64(row, 2),
            sqlite3_column_int(row, 5) ? "true" : "false", sqlite3_column_double(row, 6));
        if (sqlite3_column_type(row, 7) == SQLITE_NULL)
                fputs("null", out);
        else
                fprintf(out, "%.6f", sqlite3_column_double(row, 7));
        fputs(",\"pausedRanges\":[],\"markers\":{\"length\":0,\"data\":[],\"name\":[],"
              "\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]}",
              out);
        const int code = write_samples(writing, sqlite3_column_int64(row, 0));
        fputs("}", out);
        return code;
}

static int write_threads(const struct writing *writing)
{
        sqlite3_stmt *rows;
        const char *before = "\n";
        int code = statement_prepare(writing->db, threads_sql, &rows, writing->diag);
        fputs("\"threads\":[", writing->out);
        while (!code && (code = statement_next(writing->db, rows, writing->diag)) > 0) {
                fputs(before, writing->out);
                before = ",\n";
                code = write_thread(writing, rows);
        }
        sqlite3_finalize(rows);
        fputs("]}\n", writing->out);
        return code;
}

int export_firefox(struct db *db, const struct report_summary *summary,
                   enum export_weight weight, FILE *out, struct diag *diag)
{
        const struct writing writing = {db, out, weight, diag};
        struct page_grid grid;
        struct call_tree tree;
        int code = call_tree_read(db, &tree, diag);
        if (!code)
                code = page_samples_prepare(db, &grid, diag);
        char *provenance = code ? NULL : export_provenance(summary);
        if (!code && !provenance)
                code = diag_no_memory(diag);
        if (!code) {
                write_meta(out, summary, &grid, provenance);
                write_shared(out, &tree);
                code = write_threads(&writing);
        }
        free(provenance);
        call_tree_free(&tree);
        return code;
}
