/* SPDX-License-Identifier: MIT */
/* The summary above the report's table, in sentences: cost of waiting (report_cost.c),
 * important verdicts, DRAM bandwidth, and the amount of data. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"

static void say_contended(FILE *text, const struct report_summary *summary)
{
        fprintf(text, "Contended: %" PRId64 " of ", summary->contended_intervals);
        prose_counted(text, summary->intervals, "intervals");
        fprintf(
            text,
            ", %.0f%% of the time. DRAM "
            "bandwidth was short there%s: loads that missed L1 waited %.0f cycles on the "
            "average (LMRL)",
            100 * summary->contended_time_share,
            report_short_in_part(summary) ? " in bursts" : "",
            summary->contended_lmrl_cycles);
        if (!isnan(summary->other_lmrl_cycles))
                fprintf(text, ", %.0f in the other intervals",
                        summary->other_lmrl_cycles);
        fputc('.', text);
}

/* Stores can saturate DRAM without a waiting load, and prefetches while few loads wait
 * long. */
static void say_saturated(FILE *text, const struct report_summary *summary)
{
        if (!summary->saturated_intervals)
                return;
        fputs(" In ", text);
        prose_counted(text, summary->saturated_intervals, "intervals");
        fprintf(text, "%s DRAM was near its limit.",
                summary->contended_intervals ? " more" : "");
}

static void say_contention(FILE *text, const struct report_summary *summary)
{
        if (summary->without_waits)
                fputs("Contention: not known with caches only.", text);
        else if (summary->intervals == 0)
                fputs("Contention: not known, because nothing was counted by interval.",
                      text);
        else if (summary->contended_intervals > 0)
                say_contended(text, summary);
        else if (summary->unknown_intervals == summary->intervals)
                fputs("Contention: not known; counters or the machine's limits are "
                      "missing.",
                      text);
        else {
                fputs("Contended: none of ", text);
                prose_counted(text, summary->intervals, "intervals");
                fputs(summary->saturated_intervals ? "."
                                                   : "; DRAM bandwidth was not short.",
                      text);
        }
        say_saturated(text, summary);
        if (summary->unknown_intervals > 0 &&
            summary->unknown_intervals < summary->intervals)
                fprintf(text, " For %" PRId64 " intervals it is not known.",
                        summary->unknown_intervals);
        if (summary->unknown_intervals < summary->intervals && !summary->without_waits &&
            !summary->thresholds_of_machine)
                fputs(" The limits come from quiet intervals of this run, not from a "
                      "calibration.",
                      text);
}

/* Modelled numbers are not measured. */
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

/* "Latency by verdict: 62% dram-contention, 30% …", or
 * the same for stall time if it orders the rows. */
static int say_verdicts(struct db *db, FILE *text, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(
            db,
            "WITH weighed AS (SELECT" REPORT_VERDICT_NAME "AS name, stalled,"
            "  sum(weight) / sum(sum(weight)) OVER () AS part"
            "  FROM" REPORT_WEIGHED_LINES "GROUP BY name)"
            " SELECT printf('%.0f%% %s', 100 * part, name), stalled,"
            "  (SELECT total(page_faults) > 0 FROM line_finding) FROM weighed"
            " WHERE part >= 0.005 ORDER BY part DESC, name",
            &rows, diag);
        bool any = false;
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                char *part = statement_printable(rows, 0);
                if (any)
                        fputs(", ", text);
                else
                        fprintf(text, "%s by verdict: ",
                                sqlite3_column_int(rows, 1)
                                    ? sqlite3_column_int(rows, 2)
                                          ? "Stalled time and page faults"
                                          : "Stalled time"
                                    : "Latency");
                fputs(part ? part : "", text);
                free(part);
                any = true;
                code = 0;
        }
        if (any)
                fputc('.', text);
        sqlite3_finalize(rows);
        return code;
}

/* Half of the weight has no verdict: more samples help, if the time matters. */
static int say_too_few(struct db *db, FILE *text, const struct report_summary *summary,
                       struct diag *diag)
{
        sqlite3_stmt *row;
        bool imported = summary->numbers && strcmp(summary->numbers, "imported") == 0;
        if (summary->latency_per_cycle < REPORT_WORTHWHILE_RATIO ||
            report_waits_little(summary))
                return 0;
        int code = statement_prepare(
            db,
            "SELECT (SELECT value FROM run WHERE key = 'period_loads') WHERE 0.5 <= "
            "(SELECT sum(weight) FILTER (WHERE verdict = 'too-few-samples')"
            " / sum(weight) FROM" REPORT_WEIGHED_LINES ")",
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

/* Says which code waits, and why. */
static int say_causes(struct db *db, FILE *text, const struct report_summary *summary,
                      struct diag *diag)
{
        int code = say_verdicts(db, text, diag);
        if (!code)
                code = say_too_few(db, text, summary, diag);
        if (ftell(text) > 0)
                putc(' ', text);
        say_contention(text, summary);
        say_limit(text, summary);
        return code;
}

int report_say_libraries(struct db *db, FILE *text, struct diag *diag)
{
        sqlite3_stmt *rows;
        int code = statement_prepare(db,
                                     "SELECT library, 100 * sample_ratio FROM "
                                     "library_view WHERE sample_ratio >= 0.01",
                                     &rows, diag);
        while (code == 0 && (code = statement_next(db, rows, diag)) > 0) {
                char *library = statement_printable(rows, 0);
                fprintf(
                    text,
                    " The libraries of %s have %.0f %% of the samples: they mostly wait "
                    "for other ranks.",
                    library ? library : "-", sqlite3_column_double(rows, 1));
                free(library);
                code = 0;
        }
        sqlite3_finalize(rows);
        return code;
}

void report_say_lost(FILE *text, const struct report_summary *summary)
{
        if (!summary->cut_off || summary->lost > 0)
                prose_counted(text, summary->lost, "records");
        if (!summary->cut_off)
                fputs(" lost", text);
        else if (summary->lost > 0)
                fputs(" lost until the last batch, and an unknown number after it", text);
        else
                fputs("how many records were lost is not known", text);
}

static void say_size(FILE *text, const struct report_summary *summary)
{
        fprintf(text, "Duration %s%s, ", report_duration(summary->duration_s).text,
                report_is_modelled(summary) ? " of the model" : "");
        prose_counted(text, summary->samples, "samples");
        fprintf(text, ", %" PRId64 " of them of memory accesses, ",
                summary->memory_samples);
        report_say_lost(text, summary);
        putc('.', text);
}

static int say_run(struct db *db, FILE *text, const struct report_summary *summary,
                   struct diag *diag)
{
        if (summary->timed)
                report_say_stalls(text, summary);
        else
                say_size(text, summary);
        return report_say_libraries(db, text, diag);
}

/* Writes a part of the summary, as sentences. */
typedef int say_part(struct db *db, FILE *text, const struct report_summary *summary,
                     struct diag *diag);

/* Prints a paragraph; an empty line precedes all but the FIRST. */
static int print_paragraph(struct db *db, FILE *out, say_part *say, bool *first,
                           const struct report_summary *summary, struct diag *diag)
{
        char *paragraph = NULL;
        size_t length;
        FILE *text = open_memstream(&paragraph, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = say(db, text, summary, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && *paragraph) {
                fputs(*first ? "" : "\n", out);
                prose_wrapped(out, paragraph);
                *first = false;
        }
        free(paragraph);
        return code;
}

/* Prints the cost of waiting, then its causes, and last the amount of data. */
int report_print_summary(struct db *db, FILE *out, const struct report_summary *summary,
                         struct diag *diag)
{
        static say_part *const parts[] = {report_say_time, say_causes, say_run};
        bool first = true;
        int code = 0;
        for (size_t i = summary->timed ? 2 : 0;
             !code && i < sizeof(parts) / sizeof(parts[0]); i++)
                code = print_paragraph(db, out, parts[i], &first, summary, diag);
        return code;
}
