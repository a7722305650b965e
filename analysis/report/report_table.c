/* SPDX-License-Identifier: MIT */
/* The report for people: provenance, a summary in sentences, the table, the source text
 * of the worst lines, and gaps. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "source_text.h"
#include "statement.h"
#include "text.h"

enum { SOURCE_LINES = 3 };

/* Wraps each line of TEXT separately. */
static void print_lines_wrapped(FILE *out, char *text)
{
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n")) && *line;)
                prose_wrapped(out, line);
}

static int print_advice(struct db *db, const struct report_choice *choice, FILE *out,
                        const struct report_summary *summary, struct diag *diag)
{
        char *lines = NULL;
        size_t length;
        FILE *text = open_memstream(&lines, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = report_say_advice(db, text, choice, summary, diag);
        if (!code)
                code = report_say_set_conflicts(db, text, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && length > 0) {
                putc('\n', out);
                print_lines_wrapped(out, lines);
        }
        free(lines);
        return code;
}

/* Comes first: the recording is incomplete. */
static void print_losses(FILE *out, const struct report_summary *summary)
{
        char text[512];
        if (summary->lost <= 0)
                return;
        int length =
            snprintf(text, sizeof(text),
                     "Lost: %" PRId64 " records. The report covers the other %" PRId64
                     " samples. ",
                     summary->lost, summary->samples);
        if (summary->ring_pages > 0)
                snprintf(text + length, sizeof(text) - (size_t)length,
                         "Record again with larger rings than %" PRId64
                         " page%s a CPU (--mmap-pages=%" PRId64
                         "), or with fewer samples: a longer --period or a lower --freq.",
                         summary->ring_pages, summary->ring_pages == 1 ? "" : "s",
                         4 * summary->ring_pages);
        prose_wrapped(out, text);
}

static void print_failure(FILE *out, const struct report_summary *summary)
{
        if (!summary->failure)
                return;
        char *text = sqlite3_mprintf("A part of the run is missing: %s. The report "
                                     "covers the rest.",
                                     summary->failure);
        prose_wrapped(out, text ? text : "A part of the run is missing.");
        sqlite3_free(text);
}

/* Says that the report covers a part of the recording. */
static void print_selection(FILE *out, const struct report_summary *summary)
{
        char *text = NULL;
        if (summary->selection &&
            asprintf(&text,
                     "Selected: %" PRId64 " of %" PRId64
                     " samples. Shares are of their time and latency; an interval is "
                     "contended by the traffic of the whole run.",
                     summary->samples, summary->recorded_samples) >= 0)
                prose_wrapped(out, text);
        free(text);
}

static void print_without_waits(FILE *out, bool timed)
{
        if (timed)
                prose_wrapped(out,
                              "With --sim-detail cache no load waits for a value: these "
                              "are not the places of the program's time. For those "
                              "record with --sim-detail full.");
        else
                prose_wrapped(
                    out,
                    "With --sim-detail cache no load waits for a value: cache levels, "
                    "TLB misses and traffic are modelled, but all loads overlap, so "
                    "times and latencies are too short. A wait for DRAM is called "
                    "dram, whatever its cause. For causes and times record with "
                    "--sim-detail full.");
}

/* Says why the calibration of the model or of the limits is poor. */
static void print_poor_calibration(FILE *out, const struct report_summary *summary)
{
        char *text = NULL;
        if (summary->poor_calibration &&
            asprintf(&text, "The calibration behind %s is poor: %s.",
                     report_is_modelled(summary) ? "this model" : "the verdicts",
                     summary->poor_calibration) >= 0)
                prose_wrapped(out, text);
        free(text);
}

static void print_cut_off(FILE *out, const struct report_summary *summary)
{
        if (summary->cut_off)
                fputs("The recording has not ended, or was cut off: these are its "
                      "figures until now.\n",
                      out);
}

static void print_signal(FILE *out, const struct report_summary *summary)
{
        if (summary->signal)
                fprintf(out, "The command was ended by signal %d (%s).\n",
                        summary->signal, strsignal(summary->signal));
}

int report_add_state(struct brief_lines *lines, const struct report_summary *summary)
{
        static const struct {
                void (*print)(FILE *out, const struct report_summary *summary);
                enum brief_rank rank;
        } states[] = {
            {print_selection, BRIEF_LAST_REMEDY}, {print_cut_off, BRIEF_STATE},
            {print_signal, BRIEF_STATE},          {print_failure, BRIEF_STATE},
            {print_losses, BRIEF_STATE},          {print_poor_calibration, BRIEF_STATE},
        };
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(states) / sizeof(states[0]); i++) {
                FILE *text = brief_begin(lines, states[i].rank);
                if (!text)
                        return -ENOMEM;
                states[i].print(text, summary);
                code = brief_end(lines);
        }
        return code;
}

void report_print_head(FILE *out, const struct report_summary *summary, bool verbose)
{
        fputs("memlag: ", out);
        report_print_provenance(out, summary);
        fprintf(out, ": %s\n", summary->command ? summary->command : "unknown command");
        print_selection(out, summary);
        if (summary->model_note && verbose)
                prose_wrapped(out, summary->model_note);
        print_poor_calibration(out, summary);
        print_cut_off(out, summary);
        print_signal(out, summary);
        if (summary->without_waits && verbose)
                print_without_waits(out, summary->timed);
        print_failure(out, summary);
        print_losses(out, summary);
        if (verbose)
                putc('\n', out);
}

/* ---- rows, source text, ledger ---- */

#define FROM(what)                                                                       \
        "from: the " what " of your code that called it (its share, if others did "      \
        "too); 'memlag report --by caller' shows all."

/* Share of the whole; with less, untyped loads hide no important field. */
#define UNTYPED_SHARE_MIN "0.01"

/* Explains "from" if a line or function has it. */
static int explain_callers(struct db *db, const struct report_options *options, FILE *out,
                           struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        bool lines = strcmp(options->kind->name, "line") == 0;
        if (!lines && strcmp(options->kind->name, "function") != 0)
                return 0;
        int code = statement_prepare(
            db,
            lines ? "SELECT 1 FROM" REPORT_TOP_LINES "WHERE" REPORT_HAS_CALLER
                  : "SELECT 1 FROM" REPORT_TOP_FUNCTIONS "WHERE" REPORT_HAS_CALLER,
            &row, diag);
        if (code)
                return code;
        sqlite3_bind_int64(row, 1, options->top);
        report_bind_choice(row, &options->choice);
        code = statement_next(db, row, diag);
        sqlite3_finalize(row);
        if (code > 0)
                prose_wrapped(out, lines ? FROM("line") : FROM("function"));
        return code < 0 ? code : 0;
}

/* The share of loads without a type, and the line with the largest part. */
/* clang-format off */
static const char untyped_sql[] =
    "WITH untyped AS ("
    "  SELECT line_id, sum(samples * coalesce(mean_latency_cycles, 1)) AS weight"
    "  FROM line_object_finding WHERE field_id IS NULL GROUP BY line_id),"
    " named AS (SELECT line_id," REPORT_PLACE("file", "line") "AS place"
    "  FROM (SELECT *," REPORT_BASE("file") "AS base FROM line_finding"
    "        WHERE file IS NOT NULL)) "
    "SELECT printf('%.1f%%', 100 * (1 - share)),"
    " (SELECT place FROM untyped JOIN named USING (line_id)"
    "  WHERE 2 * weight > (SELECT sum(weight) FROM untyped))"
    " FROM (SELECT sum(latency_share) AS share FROM field_finding)"
    " WHERE 1 - share >= " UNTYPED_SHARE_MIN;
/* clang-format on */

/* A field without samples may still be used if loads have no type: says their share, and
 * the line with the largest part. */
static int explain_untyped(struct db *db, const struct report_options *options, FILE *out,
                           struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        if (strcmp(options->kind->name, "type") != 0)
                return 0;
        int code = statement_first(db, untyped_sql, &row, diag);
        char *share = code > 0 ? statement_printable(row, 0) : NULL;
        char *line = code > 0 ? statement_printable(row, 1) : NULL;
        char *sentence = NULL;
        if (share &&
            asprintf(
                &sentence,
                "%s of the latency has no type%s%s: fields without samples "
                "may be loaded there ('memlag query --name missing' has the reasons).",
                share, line ? ", most of it at " : "", line ? line : "") >= 0)
                prose_wrapped(out, sentence);
        free(sentence);
        free(line);
        free(share);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* Finds an object whose allocating function may be a mere wrapper. The object has at
 * least a tenth of the latency. At least four other functions call the allocating
 * function, and no caller has half of the samples. */
static const char pools_sql[] =
    "WITH path AS MATERIALIZED ("
    " SELECT object_id, path, depth, function, line, samples FROM allocation_view"
    " WHERE object_id IN (SELECT object_id FROM object_finding WHERE latency_share >= "
    "0.1)),"
    /* A path ends with the caller's own digits; the rest is the path of its callee. */
    " called AS MATERIALIZED (SELECT object_id, function, samples,"
    "  rtrim(rtrim(path, '-.0123456789'), ' ') AS below FROM path WHERE depth > 0),"
    " caller AS ("
    " SELECT d.object_id, d.alloc_function, c.function, sum(c.samples) AS samples"
    " FROM called AS c JOIN data_object AS d USING (object_id)"
    " JOIN path AS p ON p.object_id = c.object_id AND p.path = c.below"
    "  AND p.function = d.alloc_function AND p.line IS d.alloc_line"
    " WHERE d.kind = 'heap' AND c.function <> d.alloc_function"
    " GROUP BY d.object_id, c.function) "
    "SELECT alloc_function, count(*) FROM caller GROUP BY object_id"
    " HAVING count(*) >= 4 AND 2 * max(samples) < sum(samples)"
    " ORDER BY sum(samples) DESC, object_id LIMIT 1";

static int explain_pools(struct db *db, const struct report_options *options, FILE *out,
                         struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        if (strcmp(options->kind->name, "object") != 0)
                return 0;
        int code = statement_first(db, pools_sql, &row, diag);
        char *function = code > 0 ? statement_printable(row, 0) : NULL;
        char *sentence = NULL;
        if (function &&
            asprintf(&sentence,
                     "%s allocates for %" PRId64 " functions, none of them most: if it "
                     "only hands memory on, 'memlag symbolize --allocator=%s' tells "
                     "their blocks apart.",
                     function, (int64_t)sqlite3_column_int64(row, 1), function) >= 0)
                prose_wrapped(out, sentence);
        free(sentence);
        free(function);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

enum { PAIRS_SHOWN = 5 };

/* Known objects, or pairs of these, with fields to separate. Columns: at most four
 * fields, the object, HITM samples, whether elements of an array share lines. */
/* clang-format off */
#define OBJECTS_OF(pair) pair ".low = l.low AND " pair ".high = l.high"
static const char sharing_sql[] =
    "WITH shared AS MATERIALIZED (SELECT object_id, line_address, hitm FROM sharing_view),"
    " pair AS MATERIALIZED (SELECT *, other_object_id IS NOT object_id AS two,"
    "  min(coalesce(object_id, -1), coalesce(other_object_id, -1)) AS low,"
    "  max(coalesce(object_id, -1), coalesce(other_object_id, -1)) AS high"
    "  FROM sharing_pair_view),"
    " side AS (SELECT low, high, object, line_address, hitm, coalesce(field, 'byte ' || offset)"
    "   || iif(two, ' of ' || coalesce(object, '?'), '') AS name FROM pair"
    "  UNION ALL SELECT low, high, other_object, line_address, hitm,"
    "   coalesce(other_field, 'byte ' || other_offset)"
    "   || iif(two, ' of ' || coalesce(other_object, '?'), '') FROM pair),"
    " named AS (SELECT low, high, object, name, row_number() OVER (PARTITION BY low, high"
    "   ORDER BY max(hitm) DESC, name) AS rank, count(*) OVER (PARTITION BY low, high) AS all_names"
    "  FROM side GROUP BY low, high, name),"
    " listed AS (SELECT low, high, min(object) AS object,"
    "   group_concat(iif(rank <= 4, name, '...'), iif(all_names = 2, ' and ', ', ')) AS names"
    "  FROM (SELECT * FROM named ORDER BY rank) WHERE rank <= 5 GROUP BY low, high) "
    "SELECT names || iif(low = high, ' of ' || coalesce(object, '?'), ''), object,"
    " (SELECT sum(hitm) FROM shared AS v WHERE v.object_id IN (low, high)"
    "  AND line_address IN (SELECT line_address FROM side AS s WHERE " OBJECTS_OF("s") ")) AS hitm,"
    " EXISTS (SELECT 1 FROM pair AS p WHERE " OBJECTS_OF("p") " AND NOT two"
    "  AND field = other_field)"
    " FROM listed AS l WHERE low >= 0 ORDER BY hitm DESC, low, high LIMIT ?1";
/* clang-format on */

static void say_shared(sqlite3_stmt *row, FILE *out)
{
        const bool elements = sqlite3_column_int(row, 3);
        char *fields = statement_printable(row, 0);
        char *object = statement_printable(row, 1);
        char *sentence = NULL;
        if (asprintf(&sentence,
                     "%s %s %s: different threads use them, and one writes (%" PRId64
                     " HITM samples).",
                     elements ? "Give each element of" : "Put",
                     (elements ? object : fields) ?: "?",
                     elements ? "a cache line of its own" : "on different cache lines",
                     (int64_t)sqlite3_column_int64(row, 2)) >= 0)
                prose_wrapped(out, sentence);
        free(sentence);
        free(object);
        free(fields);
}

/* Says once for each object which fields to separate. */
static int explain_sharing(struct db *db, const struct report_options *options, FILE *out,
                           struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        if (strcmp(options->kind->name, "cacheline") != 0)
                return 0;
        int code = statement_prepare(db, sharing_sql, &row, diag);
        if (code)
                return code;
        sqlite3_bind_int(row, 1, PAIRS_SHOWN);
        while ((code = statement_next(db, row, diag)) > 0)
                say_shared(row, out);
        sqlite3_finalize(row);
        return code;
}

/* Rows ordered by latency or samples only have loads above the threshold, which readers
 * may miss. */
static void explain_threshold(const struct report_summary *summary, FILE *out)
{
        char *sentence = NULL;
        if (summary->unsampled_cycles &&
            asprintf(&sentence,
                     "Loads of less than %" PRId64
                     " cycles were not sampled (record --ldlat): they are in no row.",
                     summary->unsampled_cycles) >= 0) {
                prose_wrapped(out, sentence);
                free(sentence);
        }
}

/* Says why the sum of rows may be less than the total above the table. */
static void explain_long_stalls(const struct report_summary *summary, FILE *out)
{
        char *sentence = NULL;
        bool one = summary->long_stalls == 1;
        if (summary->long_stalls > 0 &&
            asprintf(&sentence,
                     "%" PRId64 " very long sample%s capped in the table, so its rows "
                     "add up to less than the figure above it.",
                     summary->long_stalls, one ? " is" : "s are") >= 0) {
                prose_wrapped(out, sentence);
                free(sentence);
        }
}

void report_explain_stalled(FILE *out, const struct report_summary *summary)
{
        prose_wrapped(out, report_is_modelled(summary) ? REPORT_STALLED_LEGEND
                               " in the model"
                                                       : REPORT_STALLED_LEGEND);
}

/* Says which rows the table leaves out, if that may mislead. */
static int explain_briefly(struct db *db, const struct report_options *options, FILE *out,
                           struct diag *diag)
{
        int code = explain_untyped(db, options, out, diag);
        if (!code)
                code = explain_sharing(db, options, out, diag);
        return code ? code : explain_pools(db, options, out, diag);
}

/* LEGEND without the column of stalls. */
static const char *without_stalled(const char *legend)
{
        static const char column[] = REPORT_BRIEF_STALLED;
        const size_t length = strlen(column);
        return strncmp(legend, column, length) == 0 ? legend + length : legend;
}

static int print_rows(struct db *db, const struct report_options *options,
                      const struct report_summary *summary, FILE *out, struct diag *diag)
{
        /* the stall time of loads is known */
        const bool stalled = !isnan(summary->loads_stalled_ratio);
        const bool no_stalls =
            options->kind->stalled && !stalled && !summary->has_first_run;
        const bool brief = !options->verbose && options->kind->brief_sql;
        const struct report_rows rows = {
            .sql = brief ? options->kind->brief_sql : options->kind->table_sql,
            .top = options->top,
            .choice = options->choice,
            .width = options->width,
            .short_names = !options->whole_names,
            .none = options->kind->none,
            .alignment =
                brief ? options->kind->brief_alignment : options->kind->alignment,
            .left_out = (options->kind->measured && !summary->has_first_run) + no_stalls};
        bool any = true;
        putc('\n', out);
        int code = report_is_chosen(&options->choice)
                       ? report_print_choice(db, options, summary, &any, out, diag)
                       : 0;
        if (code || !any)
                return code;
        code = report_render(db, &rows, FORMAT_TABLE, out, diag);
        if (code > 0)
                return 0;
        putc('\n', out);
        const char *legend = !options->verbose && options->kind->brief_legend
                                 ? options->kind->brief_legend
                                 : options->kind->legend;
        prose_wrapped(out, no_stalls ? without_stalled(legend) : legend);
        if (options->kind->measured && summary->has_first_run)
                prose_wrapped(out, "measured: share of the CPU time of the first run, by "
                                   "timer samples, without the kernel's page faults");
        if (!options->verbose)
                return explain_briefly(db, options, out, diag);
        if (options->kind->stalled && stalled)
                report_explain_stalled(out, summary);
        if (options->kind->stalled && stalled)
                explain_long_stalls(summary, out);
        if (options->kind->stalled && (!stalled || options->choice.by_latency))
                explain_threshold(summary, out);
        if (!code && stalled && !options->choice.by_latency)
                code = report_explain_range(db, options, out, diag);
        if (!code)
                code = explain_callers(db, options, out, diag);
        if (!code)
                code = explain_briefly(db, options, out, diag);
        return code ? code : report_explain_waits(db, options, stalled, out, diag);
}

/* Threads, intervals and phases have rows even without samples. */
static bool is_of_samples(const struct report_kind *kind)
{
        static const char *const of_samples[] = {
            "line", "function", "object", "caller", "allocation", "type", "cacheline"};
        for (size_t i = 0; i < sizeof(of_samples) / sizeof(of_samples[0]); i++)
                if (strcmp(kind->name, of_samples[i]) == 0)
                        return true;
        return false;
}

/* In a report by line, the first lines have said so already. */
static void print_no_rows(const struct report_options *options, FILE *out,
                          const struct report_summary *summary)
{
        if (!options->verbose && strcmp(options->kind->name, "line") == 0)
                return;
        putc('\n', out);
        report_print_too_few(out, summary);
}

/* The source lines around the row's line; NULL if unavailable. The caller frees them. */
static char *source_of(struct db *db, sqlite3_stmt *row)
{
        char *text = NULL;
        size_t size;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
                return NULL;
        bool dated = sqlite3_column_type(row, 7) != SQLITE_NULL;
        int code =
            source_text_print(memory, db, (const char *)sqlite3_column_text(row, 0),
                              sqlite3_column_int64(row, 1),
                              dated ? sqlite3_column_int64(row, 7) : INT64_MAX,
                              (const char *)sqlite3_column_text(row, 2));
        if (fclose(memory) == 0 && code == 0)
                return text;
        free(text);
        return NULL;
}

/* Columns: file, line, module, function, verdict, latency_share, stalled_ratio, start of
 * the recording. Adds a line without text to MISSING. */
static void print_source_of(struct db *db, FILE *out, FILE *missing, sqlite3_stmt *row,
                            bool stalls)
{
        int64_t line = sqlite3_column_int64(row, 1);
        char *file = statement_printable(row, 0);
        char *text = source_of(db, row);
        if (!text) {
                fprintf(missing, "%s%s:%" PRId64, ftell(missing) > 0 ? ", " : "",
                        file ? file : "", line);
                free(file);
                return;
        }
        char *function = statement_printable(row, 3);
        char *verdict = statement_printable(row, 4);
        fprintf(out, "\n%s:%" PRId64 "%s%s: %s%s%.1f%% of the %s", file ? file : "", line,
                function ? " in " : "", function ? function : "",
                verdict && !stalls ? verdict : "", stalls ? "" : ", ",
                100 * sqlite3_column_double(row, 5), stalls ? "time" : "latency");
        if (sqlite3_column_type(row, 6) != SQLITE_NULL)
                fprintf(out, ", stalled %.1f%% of the cycles",
                        100 * sqlite3_column_double(row, 6));
        putc('\n', out);
        fputs(text, out);
        free(text);
        free(file);
        free(function);
        free(verdict);
}

/* STALLS: lines of timer samples count without a verdict. */
static int print_source(struct db *db, const struct report_options *options, FILE *out,
                        bool stalls, struct diag *diag)
{
        /* Replaces a library's line by the user's line that led to most samples; prints
         * each line once. A place without a line number has no text. */
        static const char sql[] =
            "WITH shown AS ("
            " SELECT line_id," REPORT_VERDICT_NAME "AS verdict, latency_share,"
            " stalled_ratio, samples,"
            "  iif(led, caller_module, module) AS module,"
            "  iif(led, caller_file, file) AS file,"
            "  iif(led, caller_line, line) AS line,"
            "  iif(led, coalesce(caller_function, '?')"
            "   || ', calling ' ||" REPORT_FUNCTION_NAME ", function) AS function"
            " FROM (SELECT *, coalesce(caller_share >= 0.5, 0)"
            "   AND caller_file IS NOT NULL AND caller_line IS NOT NULL AS led"
            "  FROM line_finding)"
            " WHERE (verdict NOT IN ('none', 'too-few-samples') OR ?5)"
            " AND" REPORT_CHOSEN "),"
            " ranked AS (SELECT *, row_number() OVER (PARTITION BY file, "
            "line" REPORT_ORDER "line_id) AS rank FROM shown) "
            "SELECT file, line, module, function, verdict, latency_share, stalled_ratio,"
            " (SELECT CAST(strftime('%s', value) AS INTEGER) FROM run"
            "  WHERE key = 'start') "
            "FROM ranked WHERE rank = 1 AND file IS NOT NULL AND line IS NOT "
            "NULL" REPORT_ORDER "line_id LIMIT ?1";
        sqlite3_stmt *rows;
        int code = statement_prepare(db, sql, &rows, diag);
        if (code)
                return code;
        sqlite3_bind_int64(rows, 1, SOURCE_LINES);
        report_bind_choice(rows, &options->choice);
        sqlite3_bind_int(rows, 5, stalls);
        char *lines = NULL;
        size_t size;
        FILE *missing = open_memstream(&lines, &size);
        while (missing && (code = statement_next(db, rows, diag)) > 0)
                print_source_of(db, out, missing, rows, stalls);
        sqlite3_finalize(rows);
        if (!missing || fclose(missing) != 0)
                return diag_no_memory(diag);
        if (*lines) {
                char *sentence = NULL;
                if (asprintf(&sentence, "Source text not found: %s", lines) >= 0) {
                        putc('\n', out);
                        prose_wrapped(out, sentence);
                        free(sentence);
                }
        }
        free(lines);
        return code;
}

/* The whole summary in sentences. */
static int print_sentences(struct db *db, const struct report_options *options, FILE *out,
                           const struct report_summary *summary, struct diag *diag)
{
        report_print_head(out, summary, true);
        int code = report_print_summary(db, out, summary, diag);
        if (!code)
                code = report_print_agreement(db, out, summary, diag);
        if (!code)
                code = report_print_disagreement(db, out, summary, diag);
        if (!code)
                code = report_print_gains(db, out, diag);
        if (!code && !summary->timed && !report_waits_little(summary))
                code = print_advice(db, &options->choice, out, summary, diag);
        return code;
}

int report_table(struct db *db, const struct report_options *options,
                 const struct report_summary *summary, FILE *out, struct diag *diag)
{
        struct report_options shown = *options;
        struct report_kind stalls = report_kind_of_stalls(options->kind);
        if (summary->timed)
                shown.kind = &stalls;
        int code = options->verbose ? print_sentences(db, options, out, summary, diag)
                                    : report_print_brief(db, options, summary, out, diag);
        if (code || options->summary_only)
                return code;
        if (report_is_chosen(&options->choice))
                fputs("\nAll figures above the table, and what is missing, are of the "
                      "whole run.\n",
                      out);
        if (is_of_samples(options->kind) && report_has_too_few(summary))
                print_no_rows(options, out, summary);
        else
                code = print_rows(db, &shown, summary, out, diag);
        if (!code && options->verbose && options->source_text &&
            strcmp(options->kind->name, "line") == 0)
                code = print_source(db, options, out, summary->timed, diag);
        return code ? code : report_print_missing(db, options, summary, out, diag);
}
