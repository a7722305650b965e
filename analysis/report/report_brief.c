/* SPDX-License-Identifier: MIT */
/* The first lines of a report: the time spent waiting for memory, the places with cause
 * and remedy, and where to read on. About ten lines; --verbose prints the rest. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"
#include "text.h"
#include "verdict.h"

enum {
        PLACES = 3,
        REMEDIES = 2,
        PLACE_BYTES = 88,
        REMEDY_INDENT = 9,
        REMEDY_WIDTH = 100
};

/* Share of the cycles; without cycles, of the latency or of the time at loads. */
#define PLACE_SHARE_MIN "0.01"

/* Share of the bandwidth: with less left, latency begins to rise. */
static const double KNEE_LEFT = 0.5;
/* Share of the loads; fewer cost hardly any time. */
static const double SPLIT_RATIO_MIN = 0.1;

/* ---- how much ---- */

/* Rows include page faults; the sum above them must too. */
static bool waits_have_faults(const struct report_summary *summary)
{
        return !summary->timed && summary->loads_stalled_ratio <= 1 &&
               summary->fault_ratio >= REPORT_KERNEL_RATIO_MIN;
}

static void say_waiting(FILE *text, const struct report_summary *summary)
{
        if (summary->without_waits)
                fputs("With caches only no load waits for a value: times are not the "
                      "program's.",
                      text);
        else if (waits_have_faults(summary))
                fprintf(text,
                        "Waits for memory took %.1f %% of the cycles: accesses stalled "
                        "the program for %.1f %%, and page faults took %.1f %%.",
                        100 * (summary->loads_stalled_ratio + summary->fault_ratio),
                        100 * summary->loads_stalled_ratio, 100 * summary->fault_ratio);
        else if (summary->loads_stalled_ratio <= 1)
                fprintf(text,
                        "Memory accesses stalled the program for %.1f %% of its "
                        "cycles.",
                        100 * summary->loads_stalled_ratio);
        else if (summary->latency_per_cycle < 1)
                fprintf(text, "Slow loads took at most %.1f %% of the cycles.",
                        100 * summary->latency_per_cycle);
        else if (summary->latency_per_cycle >= 1)
                fprintf(text,
                        "On average %.1f slow loads were outstanding at a time; how long "
                        "they stalled the program is not known.",
                        summary->latency_per_cycle);
}

static void say_bandwidth(FILE *text, const struct report_summary *summary)
{
        int64_t known = summary->intervals - summary->unknown_intervals;
        if (summary->without_waits || known <= 0)
                return;
        if (summary->contended_intervals == 0)
                fputs(" DRAM bandwidth was not short", text);
        else
                fprintf(text, " DRAM bandwidth was short for %.0f %% of the time",
                        100 * summary->contended_time_share);
        if (summary->left_share >= 0 && summary->left_share < KNEE_LEFT)
                fprintf(text, ", and %.0f %% of it was left at the busiest of the rest",
                        100 * summary->left_share);
        putc('.', text);
}

/* Lines include the kernel's time for their page faults, and no other kernel time. */
static void say_kernel(FILE *text, const struct report_summary *summary)
{
        double modelled = summary->fault_ratio + summary->call_ratio;
        double measured = summary->kernel_s / (summary->user_s + summary->kernel_s);
        if (waits_have_faults(summary)) {
                if (summary->call_ratio >= REPORT_KERNEL_RATIO_MIN)
                        fprintf(text, " System calls took %.1f %%, which no line has.",
                                100 * summary->call_ratio);
        } else if (modelled >= REPORT_KERNEL_RATIO_MIN)
                fprintf(
                    text,
                    " The kernel took %.1f %% of the cycles, %.1f %% for page faults.",
                    100 * modelled, 100 * summary->fault_ratio);
        else if (measured >= REPORT_KERNEL_RATIO_MIN)
                fprintf(text, " The kernel took %.0f %% of the CPU time.",
                        100 * measured);
}

/* The model uses a port twice for a load across a line boundary. */
static void say_splits(FILE *text, const struct report_summary *summary)
{
        if (summary->split_ratio >= SPLIT_RATIO_MIN)
                fprintf(
                    text,
                    " %.0f %% of the loads crossed a line border (split loads), which "
                    "takes a port of L1 twice: align the data.",
                    100 * summary->split_ratio);
        if (summary->alias_ratio >= SPLIT_RATIO_MIN)
                fprintf(text,
                        " %.0f %% of the loads came after a store to another page with "
                        "the same lowest 12 bits of the address (4 KiB aliasing), and "
                        "were made twice: move one of the arrays by 64 bytes or more.",
                        100 * summary->alias_ratio);
}

static void say_timer(FILE *text, const struct report_summary *summary)
{
        fprintf(text,
                "%" PRId64 " timer samples, %" PRId64
                " of them at loads and stores (%s).",
                summary->samples, summary->stalled_samples,
                report_duration(summary->stalled_s).text);
        if (!isnan(summary->stalled_ratio))
                fprintf(text, " That is %.1f %% of the cycles.",
                        100 * summary->stalled_ratio);
        fputs(" A timer does not tell what a load waited for.", text);
}

static int print_time(struct db *db, FILE *out, const struct report_summary *summary,
                      struct diag *diag)
{
        char *sentence = NULL;
        size_t length;
        FILE *text = open_memstream(&sentence, &length);
        if (!text)
                return diag_no_memory(diag);
        if (summary->timed)
                say_timer(text, summary);
        else {
                say_waiting(text, summary);
                say_bandwidth(text, summary);
        }
        say_kernel(text, summary);
        say_splits(text, summary);
        int code = report_say_libraries(db, text, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && length)
                prose_wrapped(out, sentence[0] == ' ' ? sentence + 1 : sentence);
        free(sentence);
        return code;
}

/* ---- places ---- */

/* A library's line comes with the program's own line that led there. */
/* clang-format off */
static const char places_sql[] =
    "WITH top AS" REPORT_PLACES("?1", "?2")
    "SELECT printf('%5.1f %%', 100 * weight), verdict || coalesce(' (' || cache_level || ')', '')"
    " || coalesce(', ' || (SELECT certainty FROM certainty_finding"
    "                      WHERE subject = 'line' AND id = line_id), ''), verdict,"
    " iif(file IS NULL, '', " REPORT_BASE("file") "|| coalesce(':' || line, '') || ' ')"
    "  || 'in ' ||" REPORT_FUNCTION_NAME
    "  || iif(led, ', from ' ||" REPORT_BASE("caller_file") "|| coalesce(':' || caller_line, ''),"
    "         ''),"
    " iif(verdict = 'page-faults',"
    "  (SELECT name || iif(2 * sum(e.faults) < page_faults, ' and others', '')"
    "   FROM page_fault AS e JOIN sample_location USING (sample_id)"
    "   JOIN location AS l USING (location_id) LEFT JOIN module AS m USING (module_id)"
    "   JOIN attribution AS a USING (sample_id)"
    "   JOIN data_object AS d ON d.object_id = a.object_id"
    "   WHERE l.line IS top.line AND l.file IS top.file AND l.function IS top.function"
    "   AND m.path IS top.module GROUP BY a.object_id ORDER BY sum(e.faults) DESC LIMIT 1),"
    "  (SELECT name || iif(2 * sum(o.samples) < top.samples, ' and others', '')"
    "   FROM line_object_finding AS o JOIN data_object USING (object_id)"
    "   WHERE o.line_id = top.line_id GROUP BY object_id ORDER BY sum(o.samples) DESC LIMIT 1)),"
    " iif(verdict = 'page-faults', page_faults, samples), g.fix, 100 * g.gain_ratio,"
    " verdict = 'page-faults' "
    "FROM top LEFT JOIN (SELECT line_id, fix, max(gain_ratio) AS gain_ratio FROM gain_finding"
    "  WHERE fix NOT IN ('memory', 'in-time', 'page-faults') AND line_id IS NOT NULL"
    "  AND NOT EXISTS (SELECT 1 FROM whatif_run) GROUP BY line_id) AS g"
    "  USING (line_id) WHERE weight >= " PLACE_SHARE_MIN " ORDER BY weight DESC, line_id";
/* clang-format on */

/* Prints at most LIMIT bytes of TEXT, which is printable. */
static void print_cut(FILE *out, const char *text, size_t limit)
{
        size_t length = 0, next;
        while (text[length] &&
               length + (next = text_character(text + length, strlen(text + length))) <=
                   limit)
                length += next ? next : 1;
        fprintf(out, "%.*s%s", (int)length, text, text[length] ? "..." : "");
}

static void print_place(FILE *out, sqlite3_stmt *row, bool timed)
{
        char *place = statement_printable(row, 3);
        char *object = statement_printable(row, 4);
        char *cause = statement_printable(row, 1);
        const char *share = statement_text(row, 0);
        fprintf(out, "%s  ", share);
        print_cut(out, place ? place : "?", PLACE_BYTES);
        if (!timed)
                fprintf(out, ": %s", cause ? cause : "?");
        if (object) {
                fputs(", in ", out);
                print_cut(out, object, PLACE_BYTES / 2);
        }
        if (sqlite3_column_int64(row, 5) > 0)
                fprintf(out, " (%" PRId64 " %s)", (int64_t)sqlite3_column_int64(row, 5),
                        sqlite3_column_int(row, 8) ? "page faults" : "samples");
        putc('\n', out);
        free(cause);
        free(place);
        free(object);
}

/* Prints the machine fix with the highest expected gain for ROW's place. */
static void print_gain(FILE *out, sqlite3_stmt *row)
{
        const char *condition = report_fix_condition(statement_text(row, 6));
        const double percent = sqlite3_column_double(row, 7);
        if (condition && percent >= 1)
                fprintf(out, " Estimate: -%.0f %% if %s.", percent, condition);
}

static int write_remedy(FILE *out, sqlite3_stmt *row, const struct report_advice *advice)
{
        char *text = NULL;
        size_t length;
        FILE *memory = open_memstream(&text, &length);
        if (!memory)
                return -ENOMEM;
        fprintf(memory, "%c%s: %s.", toupper((unsigned char)*advice->meaning),
                advice->meaning + 1, advice->remedy);
        print_gain(memory, row);
        const int code = fclose(memory) ? -ENOMEM : 0;
        if (!code)
                prose_indented(out, text, REMEDY_INDENT, REMEDY_WIDTH);
        free(text);
        return code;
}

/* Prints each remedy once, for two causes at most. */
static int print_remedy(FILE *out, sqlite3_stmt *row, const char *said[REMEDIES])
{
        const char *verdict = statement_text(row, 2);
        const struct report_advice *advice = report_advice_on(verdict);
        for (int i = 0; advice && i < REMEDIES; i++) {
                if (said[i] == advice->verdict)
                        return 0;
                if (said[i])
                        continue;
                said[i] = advice->verdict;
                return write_remedy(out, row, advice);
        }
        return 0;
}

static int print_places(struct db *db, FILE *out, const struct report_summary *summary,
                        bool *any, struct diag *diag)
{
        const char *said[REMEDIES] = {NULL};
        sqlite3_stmt *rows;
        int code = statement_prepare(db, places_sql, &rows, diag);
        if (code)
                return code;
        sqlite3_bind_int(rows, 1, PLACES);
        sqlite3_bind_int(rows, 2, summary->timed);
        while ((code = statement_next(db, rows, diag)) > 0) {
                print_place(out, rows, summary->timed);
                *any = true;
                if (!summary->timed && print_remedy(out, rows, said)) {
                        code = diag_no_memory(diag);
                        break;
                }
        }
        sqlite3_finalize(rows);
        return code;
}

static int print_set_conflicts(struct db *db, FILE *out, struct diag *diag)
{
        char *line = NULL;
        size_t length;
        FILE *text = open_memstream(&line, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = report_say_set_conflicts(db, text, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code)
                fputs(line, out);
        free(line);
        return code;
}

static void print_advice_on_samples(FILE *out, const struct report_summary *summary,
                                    const char *why)
{
        int64_t samples = summary->timed ? summary->samples : summary->memory_samples;
        fprintf(out,
                "%s (%" PRId64 " in all): record a longer run, or more samples (%s).\n",
                why, samples, summary->timed ? "--freq" : "a smaller --period");
}

bool report_has_too_few(const struct report_summary *summary)
{
        int64_t samples = summary->timed ? summary->samples : summary->memory_samples;
        return samples < VERDICT_SAMPLES_MIN &&
               !(summary->fault_ratio >= VERDICT_COST_RATIO_MIN);
}

void report_print_too_few(FILE *out, const struct report_summary *summary)
{
        if (summary->selection)
                fprintf(out,
                        "What is selected has too few samples for a table (%" PRId64
                        "): select more.\n",
                        summary->timed ? summary->samples : summary->memory_samples);
        else if (summary->memory_samples == 0 && !summary->timed)
                fputs("No sample is of a memory access. Record loads: a smaller "
                      "--period, or 'perf mem record' before import.\n",
                      out);
        else
                print_advice_on_samples(out, summary, "Too few samples for a table");
}

static int print_no_place(struct db *db, FILE *out, const struct report_summary *summary,
                          struct diag *diag)
{
        int64_t unjudged;
        int code = statement_number(db,
                                    "SELECT count(*) FROM" REPORT_WEIGHED_LINES
                                    "WHERE verdict = 'too-few-samples'"
                                    " AND weight >= " PLACE_SHARE_MIN,
                                    &unjudged, diag);
        if (code < 0)
                return code;
        if (report_has_too_few(summary))
                report_print_too_few(out, summary);
        else if (unjudged)
                print_advice_on_samples(out, summary, "Too few samples to judge lines");
        else
                fputs("No line waits for 1 % of the time.\n", out);
        return 0;
}

/* Prints processes that were not recorded, or only in part. */
static int print_missing_processes(struct db *db, FILE *out, struct diag *diag)
{
        static const char sql[] =
            "SELECT value, substr(kind, length(unit) + 1) FROM ledger"
            " WHERE stage = 'record' AND unit = 'processes'"
            " AND kind LIKE 'processes%' AND value > 0 ORDER BY kind";
        sqlite3_stmt *rows;
        int code = statement_prepare(db, sql, &rows, diag);
        if (code)
                return code;
        while ((code = statement_next(db, rows, diag)) > 0) {
                char *what = statement_printable(rows, 1);
                fputs("Missing: ", out);
                prose_counted(out, sqlite3_column_int64(rows, 0), "processes");
                fprintf(out, "%s.\n", what ? what : "");
                free(what);
        }
        sqlite3_finalize(rows);
        return code;
}

/* Prints the whole run's gains that repeated runs with fixes recorded. */
static int print_recorded_gains(struct db *db, FILE *out, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db,
            "SELECT fix, 100 * gain_ratio, 100 * gain_low, 100 * gain_high"
            " FROM gain_finding WHERE line_id IS NULL AND kind = 'recorded'"
            " ORDER BY gain_ratio DESC, fix",
            &rows, diag);
        if (code)
                return code;
        while ((code = statement_next(db, rows, diag)) > 0) {
                char *fix = statement_printable(rows, 0);
                report_say_gain(out, fix ? fix : "?",
                                &(struct report_gain){sqlite3_column_double(rows, 1),
                                                      sqlite3_column_double(rows, 2),
                                                      sqlite3_column_double(rows, 3)});
                free(fix);
        }
        sqlite3_finalize(rows);
        return code;
}

int report_print_brief(struct db *db, const struct report_options *options,
                       const struct report_summary *summary, FILE *out, struct diag *diag)
{
        const char *file = options->file ? options->file : "memlag.db";
        bool any = false;
        report_print_head(out, summary, false);
        int code = print_time(db, out, summary, diag);
        if (!code && strcmp(options->kind->name, "line") == 0) {
                code = print_places(db, out, summary, &any, diag);
                if (!code)
                        code = print_set_conflicts(db, out, diag);
                if (!code && !any)
                        code = print_no_place(db, out, summary, diag);
                if (!code)
                        code = report_print_measured(db, out, summary, diag);
                if (!code)
                        code = print_recorded_gains(db, out, diag);
        }
        if (!code)
                code = print_missing_processes(db, out, diag);
        if (!code && options->summary_only)
                fprintf(out,
                        "More: memlag report %s [--by object|type|function|interval] "
                        "[--verbose], memlag annotate -i %s\n",
                        file, file);
        return code;
}
