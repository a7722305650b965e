/* SPDX-License-Identifier: MIT */
/* The report for people: provenance, a summary in plain words, the table, the
 * source text of the worst lines, and what is missing. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_sql.h"
#include "source_text.h"
#include "statement.h"
#include "text.h"

enum { SOURCE_LINES = 3, PROSE_WIDTH = 90 };
/* Of the cycles; to look closer at less is not worth while. */
static const double WORTHWHILE_RATIO = 0.05;

/* Fills lines of at most PROSE_WIDTH characters with the words of TEXT. */
static void print_wrapped(FILE *out, const char *text)
{
        size_t column = 0;
        while (*text) {
                size_t length = strcspn(text, " ");
                if (column && column + 1 + length > PROSE_WIDTH) {
                        putc('\n', out);
                        column = 0;
                }
                column +=
                    (size_t)fprintf(out, "%s%.*s", column ? " " : "", (int)length, text);
                text += length + strspn(text + length, " ");
        }
        putc('\n', out);
}

/* "1 interval", "2 intervals": PLURAL is a regular one. */
static void print_counted(FILE *out, int64_t count, const char *plural)
{
        size_t length = strlen(plural);
        if (count == 1 && length > 4 && strcmp(plural + length - 4, "sses") == 0)
                length -= 2;
        else if (count == 1 && length > 1 && plural[length - 1] == 's')
                length--;
        fprintf(out, "%" PRId64 " %.*s", count, (int)length, plural);
}

/* ---- the summary, in whole sentences ---- */

static void say_contended(FILE *text, const struct report_summary *summary)
{
        fprintf(text, "Contended: %" PRId64 " of ", summary->contended_intervals);
        print_counted(text, summary->intervals, "intervals");
        fprintf(
            text,
            ", %.0f%% of the time. DRAM "
            "bandwidth was short there: loads that missed L1 waited %.0f cycles on the "
            "average (LMRL)",
            100 * summary->contended_time_share, summary->contended_lmrl_cycles);
        if (!isnan(summary->other_lmrl_cycles))
                fprintf(text, ", %.0f in the other intervals",
                        summary->other_lmrl_cycles);
        fputc('.', text);
}

static void say_contention(FILE *text, const struct report_summary *summary)
{
        if (summary->intervals == 0)
                fputs("Contention: not known, because nothing was counted by interval.",
                      text);
        else if (summary->contended_intervals > 0)
                say_contended(text, summary);
        else if (summary->unknown_intervals == summary->intervals)
                fputs("Contention: not known; the counters or the machine's limits that "
                      "tell it are missing.",
                      text);
        else {
                fputs("Contended: none of ", text);
                print_counted(text, summary->intervals, "intervals");
                fputs("; DRAM bandwidth was not short.", text);
        }
        if (summary->unknown_intervals > 0 &&
            summary->unknown_intervals < summary->intervals)
                fprintf(text, " Of %" PRId64 " intervals the counters do not tell.",
                        summary->unknown_intervals);
        if (summary->unknown_intervals < summary->intervals &&
            !summary->thresholds_of_machine)
                fputs(" The limits come from the run's own quiet intervals, not from the "
                      "machine.",
                      text);
}

/* Of what was modelled nothing is measured. */
static void say_limit(FILE *text, const struct report_summary *summary)
{
        bool measured = summary->numbers && strcmp(summary->numbers, "measured") == 0;
        if (summary->unknown_intervals == summary->intervals || !summary->lmrl_factor)
                return;
        if (summary->lmrl_factor_origin)
                fprintf(text, " The limit of LMRL, %.2f times idle, is measured (%s).",
                        summary->lmrl_factor, summary->lmrl_factor_origin);
        else if (measured)
                fprintf(text,
                        " The limit of LMRL, %.2f times idle, is derived, not measured.",
                        summary->lmrl_factor);
}

/* Latency is not time lost, because loads overlap and other work goes on beside them; but
 * it is no less than that. Slow are the loads that reach the threshold of sampling: what
 * nobody saw is not in it. How much less the loss may be, the cycles without any
 * execution tell; they are no bound, as work may be slow that goes on. */
static void say_latency(FILE *text, const struct report_summary *summary)
{
        bool simulated = summary->source && strcmp(summary->source, "sim") == 0;
        if (summary->latency_per_cycle < 1) {
                fprintf(text,
                        "Waiting for slow loads took at most %.1f%% of the run's cycles.",
                        100 * summary->latency_per_cycle);
                return;
        }
        fprintf(text,
                "On the average %.1f slow loads were under way at a time (each load "
                "counts, also those of one line)",
                summary->latency_per_cycle);
        if (summary->latency_per_cycle >= REPORT_OVERLAP_MIN)
                fprintf(text,
                        ", so that shares of latency are not shares of time; for those "
                        "record with %s",
                        simulated ? "--freq" : "--source clock");
        fputc('.', text);
}

/* Loads under way are the whole wait: neither the core's resources nor DRAM were short.
 * Cycles without execution alone do not tell: threads that write one line have few. */
static bool waits_little(const struct report_summary *summary)
{
        return summary->latency_per_cycle < WORTHWHILE_RATIO &&
               !(summary->stall_ratio >= WORTHWHILE_RATIO) &&
               !(summary->fb_full_ratio >= WORTHWHILE_RATIO) &&
               !(summary->sq_full_ratio >= WORTHWHILE_RATIO) &&
               !(summary->sb_full_ratio >= WORTHWHILE_RATIO) &&
               summary->contended_intervals == 0;
}

static void say_cost(FILE *text, const struct report_summary *summary)
{
        const char *separator = "";
        if (!isnan(summary->latency_per_cycle)) {
                say_latency(text, summary);
                separator = " ";
        }
        if (!isnan(summary->stall_ratio) &&
            !(summary->stall_ratio >= fmin(summary->latency_per_cycle, 1)))
                fprintf(text,
                        "%sIn %.1f%% of the run's cycles nothing was executed beside a "
                        "load that missed L1.",
                        separator, 100 * summary->stall_ratio);
        if (waits_little(summary))
                fputs(" Waiting for memory is not what this program's time goes to.",
                      text);
}

/* "Of the latency of all samples, 62% is on lines with dram-contention, 30% …". */
static int say_verdicts(struct db *db, FILE *text, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code =
            statement_prepare(db,
                              "SELECT printf('%.0f%% %s', 100 * sum(latency_share), "
                              "verdict) FROM line_view "
                              "GROUP BY verdict HAVING sum(latency_share) >= 0.005 "
                              "ORDER BY sum(latency_share) DESC, verdict",
                              &rows, diag);
        const char *separator = " Latency of all samples, by the verdict on their line: ";
        bool any = false;
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                char *part = statement_printable(rows, 0);
                fprintf(text, "%s%s", separator, part ? part : "");
                free(part);
                separator = ", ";
                any = true;
                code = 0;
        }
        if (any)
                fputc('.', text);
        sqlite3_finalize(rows);
        return code;
}

/* Half of the latency without a verdict: more samples are the remedy, if it can matter.
 */
static int say_too_few(struct db *db, FILE *text, const struct report_summary *summary,
                       struct diag *diag)
{
        sqlite3_stmt *row;
        bool imported = summary->numbers && strcmp(summary->numbers, "imported") == 0;
        if (summary->latency_per_cycle < WORTHWHILE_RATIO)
                return 0;
        int code = statement_prepare(
            db,
            "SELECT (SELECT value FROM run WHERE key = 'period_loads') WHERE 0.5 <= "
            "(SELECT sum(latency_share) FROM line_finding"
            " WHERE verdict = 'too-few-samples')",
            &row, diag);
        if (code)
                return code;
        code = statement_next(db, row, diag);
        int64_t period = code > 0 ? sqlite3_column_int64(row, 0) : 0;
        if (code > 0 && period > 1)
                fprintf(text,
                        " Most of it is on lines with too few samples: record a longer "
                        "run, or with a smaller %s than %" PRId64 ".",
                        imported ? "period (perf record -c)" : "--period", period);
        else if (code > 0)
                fputs(
                    " Most of it is on lines with too few samples: record a longer run.",
                    text);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

static int say_summary(struct db *db, FILE *text, const struct report_summary *summary,
                       struct diag *diag)
{
        if (summary->timed) {
                report_say_stalls(text, summary);
                return 0;
        }
        bool modelled = summary->numbers && strcmp(summary->numbers, "modelled") == 0;
        fprintf(text, "Duration %s%s, ", report_duration(summary->duration_s).text,
                modelled ? " of the model" : "");
        print_counted(text, summary->samples, "samples");
        fprintf(text, ", %" PRId64 " of them of memory accesses, ",
                summary->memory_samples);
        print_counted(text, summary->lost, "records");
        fputs(" lost. ", text);
        say_contention(text, summary);
        say_limit(text, summary);
        int code = say_verdicts(db, text, diag);
        return code ? code : say_too_few(db, text, summary, diag);
}

static int print_summary(struct db *db, FILE *out, const struct report_summary *summary,
                         struct diag *diag)
{
        char *paragraph = NULL;
        char *cost = NULL;
        size_t length;
        FILE *text = open_memstream(&paragraph, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = say_summary(db, text, summary, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        text = open_memstream(&cost, &length);
        if (text) {
                say_cost(text, summary);
                if (fclose(text))
                        code = diag_no_memory(diag);
        } else
                code = diag_no_memory(diag);
        if (!code)
                print_wrapped(out, paragraph);
        if (!code && *cost) {
                putc('\n', out);
                print_wrapped(out, cost);
        }
        free(cost);
        free(paragraph);
        return code;
}

/* Each line of TEXT wrapped by itself. */
static void print_lines_wrapped(FILE *out, char *text)
{
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n")) && *line;)
                print_wrapped(out, line);
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
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && length > 0) {
                putc('\n', out);
                print_lines_wrapped(out, lines);
        }
        free(lines);
        return code;
}

/* Before all else: what is shown is not all that happened. */
static void print_losses(FILE *out, const struct report_summary *summary)
{
        char text[512];
        if (summary->lost <= 0)
                return;
        int length =
            snprintf(text, sizeof(text),
                     "Lost: %" PRId64 " records, beside %" PRId64
                     " samples that are there; all that follows is about these. ",
                     summary->lost, summary->samples);
        if (summary->ring_pages > 0)
                snprintf(text + length, sizeof(text) - (size_t)length,
                         "Record again with larger rings than %" PRId64
                         " page%s a CPU (--mmap-pages=%" PRId64
                         "), or with fewer samples: a longer --period or a lower --freq.",
                         summary->ring_pages, summary->ring_pages == 1 ? "" : "s",
                         4 * summary->ring_pages);
        print_wrapped(out, text);
}

static void print_failure(FILE *out, const struct report_summary *summary)
{
        char *text = sqlite3_mprintf("A part of the run is missing: %s. All that follows "
                                     "is about what is there.",
                                     summary->failure);
        print_wrapped(out, text ? text : "A part of the run is missing.");
        sqlite3_free(text);
}

static void print_head(FILE *out, const struct report_summary *summary)
{
        fputs("memlag: ", out);
        report_print_provenance(out, summary);
        fprintf(out, ": %s\n", summary->command ? summary->command : "unknown command");
        if (summary->cut_off)
                fputs("The recording has not ended; unless it still runs, it was cut "
                      "off. This is what was "
                      "written until now.\n",
                      out);
        if (summary->signal)
                fprintf(out, "The command was ended by signal %d (%s).\n",
                        summary->signal, strsignal(summary->signal));
        if (summary->failure)
                print_failure(out, summary);
        print_losses(out, summary);
        putc('\n', out);
}

/* ---- rows, source text, ledger ---- */

/* A dram verdict beside a DRAM column near 0% looks wrong, and is not: of the loads from
 * one line the first alone comes from DRAM, and the others wait as long for its line. */
static int explain_waits_for_lines(struct db *db, const struct report_options *options,
                                   FILE *out, struct diag *diag)
{
        if (!options->kind->finding_table)
                return 0;
        char *sql = sqlite3_mprintf(
            "SELECT 1 FROM %s WHERE verdict LIKE 'dram-%%' AND 2 * dram_samples < samples"
            " AND (latency_share >= 0.001 OR" REPORT_HAS_CHOICE ")%s%s LIMIT 1",
            options->kind->finding_table, options->kind->of_code ? " AND" : "",
            options->kind->of_code ? REPORT_CHOSEN : "");
        sqlite3_stmt *row = NULL;
        int code = sql ? statement_prepare(db, sql, &row, diag) : diag_no_memory(diag);
        sqlite3_free(sql);
        if (code)
                return code;
        report_bind_choice(row, &options->choice);
        code = statement_next(db, row, diag);
        sqlite3_finalize(row);
        if (code > 0)
                print_wrapped(out, "Where the verdict is dram and the DRAM column small, "
                                   "the samples waited for a line that an earlier load "
                                   "had already asked DRAM for (level LFB).");
        return code < 0 ? code : 0;
}

/* What the rows are chosen by, and how much of the whole is theirs; *ANY: there are some.
 */
static int print_choice(struct db *db, const struct report_choice *choice, bool *any,
                        FILE *out, struct diag *diag)
{
        sqlite3_stmt *row;
        int code = statement_prepare(
            db,
            "SELECT coalesce('function ' || ?2, '')"
            " || iif(?2 IS NULL OR ?3 IS NULL, '', ', ') || coalesce('module ' || ?3, "
            "''),"
            " 100 * total(latency_share), count(*) FROM function_finding"
            " WHERE" REPORT_CHOSEN,
            &row, diag);
        if (code)
                return code;
        report_bind_choice(row, choice);
        code = statement_next(db, row, diag);
        char *chosen = code > 0 ? statement_printable(row, 0) : NULL;
        *any = code > 0 && sqlite3_column_int64(row, 2) > 0;
        if (chosen && *any)
                fprintf(out, "Only %s: %.1f%% of the whole\n\n", chosen,
                        sqlite3_column_double(row, 1));
        else if (chosen)
                fprintf(out, "Only %s: no sample was there.\n", chosen);
        free(chosen);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* A line has room for a name of this length beside the figures. */
enum { NAME_BYTES = 60 };

static int print_rows(struct db *db, const struct report_options *options, FILE *out,
                      struct diag *diag)
{
        const struct report_rows rows = {.sql = options->kind->table_sql,
                                         .top = options->top,
                                         .choice = options->choice,
                                         .width = options->width,
                                         .name_bytes =
                                             options->whole_names ? 0 : NAME_BYTES,
                                         .alignment = options->kind->alignment};
        bool any = true;
        putc('\n', out);
        int code = options->choice.function || options->choice.module
                       ? print_choice(db, &options->choice, &any, out, diag)
                       : 0;
        if (code || !any)
                return code;
        code = report_render(db, &rows, FORMAT_TABLE, out, diag);
        putc('\n', out);
        print_wrapped(out, options->kind->legend);
        return code ? code : explain_waits_for_lines(db, options, out, diag);
}

/* Threads, intervals and phases are there without samples, too. */
static bool lacks_rows(const struct report_summary *summary,
                       const struct report_kind *kind)
{
        static const char *const of_samples[] = {"line",   "function",   "object",
                                                 "caller", "allocation", "type"};
        if (summary->timed || summary->memory_samples > 0)
                return false;
        for (size_t i = 0; i < sizeof(of_samples) / sizeof(of_samples[0]); i++)
                if (strcmp(kind->name, of_samples[i]) == 0)
                        return true;
        return false;
}

static void print_no_rows(FILE *out)
{
        putc('\n', out);
        print_wrapped(out, "No sample is of a memory access, so that there are no rows. "
                           "Record loads: with 'memlag record', a smaller --period for a "
                           "short program, or 'perf mem record' before 'memlag import'.");
}

/* The lines around the row's, NULL when they are not at hand; the caller frees them. */
static char *source_of(sqlite3_stmt *row)
{
        char *text = NULL;
        size_t size;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
                return NULL;
        int code = source_text_print(memory, (const char *)sqlite3_column_text(row, 0),
                                     sqlite3_column_int64(row, 1),
                                     (const char *)sqlite3_column_text(row, 2));
        if (fclose(memory) == 0 && code == 0)
                return text;
        free(text);
        return NULL;
}

/* Columns: file, line, module, function, verdict, latency_share. A line without its text
 * is added to MISSING. */
static void print_source_of(FILE *out, FILE *missing, sqlite3_stmt *row, bool stalls)
{
        int64_t line = sqlite3_column_int64(row, 1);
        char *file = statement_printable(row, 0);
        char *text = source_of(row);
        if (!text) {
                fprintf(missing, "%s%s:%" PRId64, ftell(missing) > 0 ? ", " : "",
                        file ? file : "", line);
                free(file);
                return;
        }
        char *function = statement_printable(row, 3);
        char *verdict = statement_printable(row, 4);
        fprintf(out, "\n%s:%" PRId64 "%s%s: %s%s%.1f%% of the %s\n", file ? file : "",
                line, function ? " in " : "", function ? function : "",
                verdict && !stalls ? verdict : "", stalls ? "" : ", ",
                100 * sqlite3_column_double(row, 5),
                stalls ? "time at loads" : "latency");
        fputs(text, out);
        free(text);
        free(file);
        free(function);
        free(verdict);
}

/* STALLS: lines of timer samples have no verdict, and count without one. */
static int print_source(struct db *db, const struct report_options *options, FILE *out,
                        bool stalls, struct diag *diag)
{
        static const char sql[] =
            "SELECT file, line, module, function, verdict, latency_share FROM line_view "
            "WHERE file IS NOT NULL AND line IS NOT NULL"
            " AND (verdict NOT IN ('none', 'too-few-samples') OR ?4)"
            " AND" REPORT_CHOSEN "LIMIT ?1";
        sqlite3_stmt *rows;
        int code = statement_prepare(db, sql, &rows, diag);
        if (code)
                return code;
        sqlite3_bind_int64(rows, 1, SOURCE_LINES);
        report_bind_choice(rows, &options->choice);
        sqlite3_bind_int(rows, 4, stalls);
        char *lines = NULL;
        size_t size;
        FILE *missing = open_memstream(&lines, &size);
        while (missing && (code = statement_next(db, rows, diag)) > 0)
                print_source_of(out, missing, rows, stalls);
        sqlite3_finalize(rows);
        if (!missing || fclose(missing) != 0)
                return diag_no_memory(diag);
        if (*lines) {
                char *sentence = NULL;
                if (asprintf(&sentence, "Source text not found: %s", lines) >= 0) {
                        putc('\n', out);
                        print_wrapped(out, sentence);
                        free(sentence);
                }
        }
        free(lines);
        return code;
}

/* FAILED: recording ended before the run did; how much there was then nobody counted. */
static int print_ledger(struct db *db, bool failed, FILE *out, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db, "SELECT value, unit, kind, stage FROM ledger ORDER BY stage, kind", &rows,
            diag);
        const char *heading = "\nMissing:\n";
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                char *unit = statement_printable(rows, 1);
                char *kind = statement_printable(rows, 2);
                char *stage = statement_printable(rows, 3);
                int64_t value = sqlite3_column_int64(rows, 0);
                size_t said = unit && kind && strncmp(kind, unit, strlen(unit)) == 0
                                  ? strlen(unit)
                                  : 0;
                fprintf(out, "%s  ", heading);
                print_counted(out, value, unit ? unit : "");
                fprintf(out, "%s%s (%s)\n", said ? "" : ": ", kind ? kind + said : "",
                        stage ? stage : "");
                free(unit);
                free(kind);
                free(stage);
                heading = "";
                code = 0;
        }
        if (failed && !code)
                fprintf(out, "%s  the part of the run that the first lines tell of\n",
                        heading);
        else if (*heading && !code)
                fputs("\nMissing: nothing.\n", out);
        sqlite3_finalize(rows);
        return code;
}

int report_table(struct db *db, const struct report_options *options,
                 const struct report_summary *summary, FILE *out, struct diag *diag)
{
        struct report_options shown = *options;
        struct report_kind stalls = report_kind_of_stalls(options->kind);
        if (summary->timed)
                shown.kind = &stalls;
        print_head(out, summary);
        int code = print_summary(db, out, summary, diag);
        if (!code && !summary->timed && !waits_little(summary))
                code = print_advice(db, &options->choice, out, summary, diag);
        if (!code && lacks_rows(summary, options->kind))
                print_no_rows(out);
        else if (!code)
                code = print_rows(db, &shown, out, diag);
        if (!code && options->source_text && strcmp(options->kind->name, "line") == 0)
                code = print_source(db, options, out, summary->timed, diag);
        if (!code)
                code = print_ledger(db, summary->failure != NULL, out, diag);
        return code;
}
