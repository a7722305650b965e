/* SPDX-License-Identifier: MIT */
/* The format of callgrind.out files, as the Valgrind manual defines it. Writes names in
 * full each time: compression by numbers is optional. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "array.h"
#include "export.h"
#include "pairs.h"
#include "report_sql.h"
#include "statement.h"

struct weights {
        int64_t samples;
        int64_t latency;
        int64_t stalled;
};

/* Module and name identify a function, as in the tree of calls. Two static functions with
 * one name in one module are merged. */
struct function {
        char *object;
        char *file;
        char *name;
};

struct callgrind {
        FILE *out;
        bool latency; /* weights that the recording has */
        bool stalled;
        struct function *functions; /* function number 1 is the first */
        size_t function_count;
        size_t function_capacity;
        struct pairs edges; /* (caller, callee) as function numbers → weights */
        uint32_t
            *path; /* edges from the outermost function to the current row */
        uint32_t *callees;
        size_t depth;
        size_t path_capacity;
        size_t callee_capacity;
};

/* SQL is laid out as SQL. */
/* clang-format off */
#define WEIGHTS(samples, latency, stalled) \
        samples ", CAST(round(1e6 * coalesce(" latency ", 0)) AS INTEGER)," \
        " CAST(round(1e6 * coalesce(" stalled ", 0)) AS INTEGER) "
#define NAMED(table) \
        "(SELECT *, coalesce(module, '(unknown)') AS object," REPORT_FUNCTION_NAME "AS name" \
        " FROM " table ")"

/* Numbers functions from 1. A function's lines may belong to several files (macros,
 * included code): the file of its first line identifies it. */
#define FUNCTIONS \
        "code AS MATERIALIZED " NAMED("line_finding") "," \
        "step AS MATERIALIZED " NAMED("caller_finding") "," \
        "function AS MATERIALIZED (" \
        " SELECT row_number() OVER (ORDER BY object, name) AS number, object, name FROM" \
        " (SELECT object, name FROM code UNION SELECT object, name FROM step)) "

static const char known_sql[] =
    "SELECT max(latency_share) IS NOT NULL, max(stalled_ratio) IS NOT NULL"
    " FROM line_finding";
static const char total_sql[] =
    "SELECT " WEIGHTS("coalesce(sum(samples), 0)", "sum(latency_share)",
                      "sum(stalled_ratio)") "FROM line_finding";
static const char functions_sql[] =
    "WITH " FUNCTIONS
    "SELECT f.object, coalesce(c.file, '(unknown)'), f.name, min(c.line_id) "
    "FROM function AS f LEFT JOIN code AS c USING (object, name) "
    "GROUP BY f.number ORDER BY f.number";
static const char lines_sql[] =
    "WITH " FUNCTIONS
    "SELECT " WEIGHTS("c.samples", "c.latency_share", "c.stalled_ratio") ","
    " f.number, coalesce(c.file, '(unknown)'), coalesce(c.line, 0) "
    "FROM code AS c JOIN function AS f USING (object, name) ORDER BY f.number, c.line_id";
static const char steps_sql[] =
    "WITH " FUNCTIONS
    "SELECT " WEIGHTS("s.samples", "s.latency_share", "s.stalled_ratio") ","
    " f.number, s.depth "
    "FROM step AS s JOIN function AS f USING (object, name) ORDER BY s.caller_id";
/* clang-format on */

static struct weights weights_of(sqlite3_stmt *row)
{
        return (struct weights){sqlite3_column_int64(row, 0),
                                sqlite3_column_int64(row, 1),
                                sqlite3_column_int64(row, 2)};
}

/* A damaged file may have arbitrary numbers. */
static void add_to(int64_t *sum, int64_t part)
{
        if (__builtin_add_overflow(*sum, part, sum))
                *sum = part < 0 ? INT64_MIN : INT64_MAX;
}

static void add(struct weights *to, const struct weights *from)
{
        add_to(&to->samples, from->samples);
        add_to(&to->latency, from->latency);
        add_to(&to->stalled, from->stalled);
}

static void print_weights(const struct callgrind *callgrind,
                          const struct weights *weights)
{
        if (callgrind->stalled)
                fprintf(callgrind->out, " %" PRId64, weights->stalled);
        if (callgrind->latency)
                fprintf(callgrind->out, " %" PRId64, weights->latency);
        fprintf(callgrind->out, " %" PRId64 "\n", weights->samples);
}

static void print_function(FILE *out, const struct function *function, const char *prefix,
                           const char *file_key)
{
        fprintf(out, "%sob=%s\n%s=%s\n%sfn=%s\n", prefix, function->object, file_key,
                function->file, prefix, function->name);
}

static int take_known(void *context, sqlite3_stmt *row)
{
        struct callgrind *callgrind = context;
        callgrind->latency = sqlite3_column_int(row, 0);
        callgrind->stalled = sqlite3_column_int(row, 1);
        return 0;
}

static int take_total(void *context, sqlite3_stmt *row)
{
        const struct callgrind *callgrind = context;
        struct weights total = weights_of(row);
        fputs("summary:", callgrind->out);
        print_weights(callgrind, &total);
        return 0;
}

static int take_function(void *context, sqlite3_stmt *row)
{
        struct callgrind *callgrind = context;
        if (array_reserve(&callgrind->functions, &callgrind->function_capacity,
                          callgrind->function_count, sizeof(*callgrind->functions)))
                return -ENOMEM;
        struct function *function = &callgrind->functions[callgrind->function_count++];
        *function =
            (struct function){statement_printable(row, 0), statement_printable(row, 1),
                              statement_printable(row, 2)};
        return function->object && function->file && function->name ? 0 : -ENOMEM;
}

static int take_line(void *context, sqlite3_stmt *row)
{
        const struct callgrind *callgrind = context;
        struct weights weights = weights_of(row);
        char *file = statement_printable(row, 4);
        if (!file)
                return -ENOMEM;
        fputc('\n', callgrind->out);
        print_function(callgrind->out,
                       &callgrind->functions[sqlite3_column_int64(row, 3) - 1], "", "fl");
        fprintf(callgrind->out, "fe=%s\n%lld", file, sqlite3_column_int64(row, 5));
        free(file);
        print_weights(callgrind, &weights);
        return 0;
}

/* Whether the path to the current row contains EDGE. */
static bool is_on_path(const struct callgrind *callgrind, uint32_t edge)
{
        for (size_t i = 1; i < callgrind->depth; i++)
                if (callgrind->path[i] == edge)
                        return true;
        return false;
}

/* In a recursion, the outermost of equal calls counts the cost. Self-recursive calls get
 * no edge: the function's own lines and other calls have their cost. A damaged file may
 * skip a depth: such a row becomes a child of the last row. */
static int take_step(void *context, sqlite3_stmt *row)
{
        struct callgrind *callgrind = context;
        struct weights weights = weights_of(row);
        uint32_t function = (uint32_t)sqlite3_column_int64(row, 3);
        int64_t depth = sqlite3_column_int64(row, 4);
        if (depth >= 0 && (uint64_t)depth < callgrind->depth)
                callgrind->depth = (size_t)depth;
        if (array_reserve(&callgrind->path, &callgrind->path_capacity, callgrind->depth,
                          sizeof(*callgrind->path)) ||
            array_reserve(&callgrind->callees, &callgrind->callee_capacity,
                          callgrind->depth, sizeof(*callgrind->callees)))
                return -ENOMEM;
        uint32_t edge = 0;
        if (callgrind->depth > 0) {
                edge = pairs_place(&callgrind->edges,
                                   callgrind->callees[callgrind->depth - 1], function);
                if (edge == UINT32_MAX)
                        return -ENOMEM;
                if (callgrind->callees[callgrind->depth - 1] != function &&
                    !is_on_path(callgrind, edge))
                        add(pairs_value(&callgrind->edges, edge), &weights);
        }
        callgrind->path[callgrind->depth] = edge;
        callgrind->callees[callgrind->depth++] = function;
        return 0;
}

static void print_calls(const struct callgrind *callgrind)
{
        for (size_t i = 0; i < callgrind->edges.count; i++) {
                const struct pair *edge = &callgrind->edges.pairs[i];
                const struct weights *cost = pairs_value(&callgrind->edges, i);
                if (edge->first == edge->second)
                        continue;
                fputc('\n', callgrind->out);
                print_function(callgrind->out, &callgrind->functions[edge->first - 1], "",
                               "fl");
                print_function(callgrind->out, &callgrind->functions[edge->second - 1],
                               "c", "cfi");
                fprintf(callgrind->out, "calls=%" PRId64 " 0\n0", cost->samples);
                print_weights(callgrind, cost);
        }
}

static void print_head(const struct callgrind *callgrind,
                       const struct report_summary *summary)
{
        FILE *out = callgrind->out;
        const char *latency = summary->timed ? "Time" : "Latency";
        fprintf(out, "# callgrind format\nversion: 1\ncreator: memlag\ncmd: %s\n",
                summary->command ? summary->command : "-");
        fputs("desc: Numbers: ", out);
        report_print_provenance(out, summary);
        fputs("\npositions: line\n", out);
        if (callgrind->stalled)
                fputs("event: Stalled : Held up (millionths of the run's cycles)\n", out);
        if (callgrind->latency)
                fprintf(out, "event: %s : %s\n", latency,
                        summary->timed
                            ? "Time at loads and stores (millionths of all samples')"
                            : "Latency (millionths of all samples')");
        fprintf(out, "event: Samples : Samples\nevents:%s%s%s Samples\n",
                callgrind->stalled ? " Stalled" : "", callgrind->latency ? " " : "",
                callgrind->latency ? latency : "");
}

static void release(struct callgrind *callgrind)
{
        for (size_t i = 0; i < callgrind->function_count; i++) {
                free(callgrind->functions[i].object);
                free(callgrind->functions[i].file);
                free(callgrind->functions[i].name);
        }
        free(callgrind->functions);
        pairs_free(&callgrind->edges);
        free(callgrind->path);
        free(callgrind->callees);
}

int export_callgrind(struct db *db, const struct report_summary *summary, FILE *out,
                     struct diag *diag)
{
        struct callgrind callgrind = {.out = out,
                                      .edges.value_bytes = sizeof(struct weights)};
        int code = statement_each(db, known_sql, take_known, &callgrind, diag);
        if (!code) {
                print_head(&callgrind, summary);
                code = statement_each(db, total_sql, take_total, &callgrind, diag);
        }
        if (!code)
                code = statement_each(db, functions_sql, take_function, &callgrind, diag);
        if (!code)
                code = statement_each(db, lines_sql, take_line, &callgrind, diag);
        if (!code)
                code = statement_each(db, steps_sql, take_step, &callgrind, diag);
        if (!code)
                print_calls(&callgrind);
        release(&callgrind);
        return code;
}
