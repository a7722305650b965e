/* SPDX-License-Identifier: MIT */
/* Compares the measured first run of the command with the model: how well they agree, and
 * the lines with disagreement. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"
#include "verdict.h"

enum { LINES_OF_EACH = 3 };

/* The model confirms a measured run with at least so many of its hottest lines, and their
 * order with at least so high a rank correlation (doc/experiments/machine.md). */
static const double SHARED_MIN = 0.8;
static const double RANK_CORRELATION_MIN = 0.8;
static const double TIMES_MAX = 2;

static const char agreement_sql[] =
    "SELECT compared, shared, correlation, (SELECT total(samples) FROM clock_sample),"
    " EXISTS (SELECT 1 FROM line_clock_finding WHERE modelled_ratio IS NOT NULL),"
    " (SELECT total(iif(key = 'clock_kernel_ns', value, 0)) / nullif(total(value), 0)"
    "  FROM run WHERE key IN ('clock_user_ns', 'clock_kernel_ns')),"
    " (SELECT total(iif(module_id IS NULL, samples, 0)) / total(samples)"
    "  FROM clock_sample),"
    " (SELECT sum(value) FROM reading JOIN counter USING (counter_id)"
    "  WHERE name = 'cpu_clk_unhalted.thread')"
    " * 1000 / (SELECT value FROM machine WHERE key = 'clock_mhz')"
    " / (SELECT sum(value) FROM run WHERE key IN ('clock_user_ns', 'clock_kernel_ns'))"
    " FROM clock_agreement_finding WHERE subject = 'line'";

/* clang-format off */
static const char lines_sql[] =
    "SELECT iif(file IS NULL, '', " REPORT_BASE("file") "|| coalesce(':' || line, '') || ' in ')"
    " ||" REPORT_FUNCTION_NAME ", 100 * measured_ratio, 100 * stalled_ratio"
    " FROM line_measured_view WHERE agreement = ?1"
    " ORDER BY abs(measured_ratio - stalled_ratio) DESC, line_id LIMIT ?2";
/* clang-format on */

/* Shares of the first run that the comparison leaves out. */
static void say_left_out(FILE *text, double kernel_ratio, double unnamed_ratio)
{
        if (kernel_ratio >= REPORT_KERNEL_RATIO_MIN)
                fprintf(text, ". The kernel took %.0f %% of the CPU time",
                        100 * kernel_ratio);
        if (unnamed_ratio >= REPORT_KERNEL_RATIO_MIN)
                fprintf(text, ". In code of no file were %.0f %% of the samples",
                        100 * unnamed_ratio);
}

/* Lines can agree while another level serves them: then no size is right. */
static bool is_far_off(sqlite3_stmt *row)
{
        const double times = sqlite3_column_double(row, 7);
        return times > 0 && (times < 1 / TIMES_MAX || times > TIMES_MAX);
}

/* How many of the hottest lines the model finds decides. Their order says less: lines of
 * nearly equal time change places from run to run. */
static void say_judgement(FILE *text, sqlite3_stmt *row, bool timed)
{
        const int64_t compared = sqlite3_column_int64(row, 0);
        const int64_t shared = sqlite3_column_int64(row, 1);
        const bool confirmed = (double)shared >= SHARED_MIN * (double)compared;
        const bool other_order = sqlite3_column_type(row, 2) != SQLITE_NULL &&
                                 sqlite3_column_double(row, 2) < RANK_CORRELATION_MIN;
        fprintf(text, "Measured: %" PRId64 " of the ", shared);
        prose_counted(text, compared, "hottest lines");
        fprintf(text, " are among the %s%s",
                timed ? "model's first ten" : "ten that stall most",
                !confirmed ? ". Order lines by column \"measured\" (memlag report), and "
                             "trust a cause only where that column shows time"
                : is_far_off(row) ? ": trust the model's lines"
                : other_order ? ", in another order: trust the model's causes, but order "
                                "lines by column \"measured\" (memlag report)"
                              : ": trust the model's lines and causes");
}

static void say_agreement(FILE *text, sqlite3_stmt *row)
{
        const int64_t samples = sqlite3_column_int64(row, 3);
        int64_t compared = sqlite3_column_int64(row, 0);
        bool timed = sqlite3_column_int(row, 4);
        if (samples < VERDICT_SAMPLES_MIN) {
                fprintf(text,
                        "Measured: too few timer samples (%" PRId64 ") to compare with "
                        "the model.",
                        samples);
                return;
        }
        if (compared == 0) {
                fputs("Measured: no line had 1 % of the time and 5 samples.", text);
                return;
        }
        say_judgement(text, row, timed);
        if (is_far_off(row))
                fprintf(text,
                        ". But the modelled run takes %.2g times the measured CPU time: "
                        "trust no size, and no verdict on how far the data are",
                        sqlite3_column_double(row, 7));
        say_left_out(text, sqlite3_column_double(row, 5), sqlite3_column_double(row, 6));
        putc('.', text);
}

/* Writes INTRODUCTION and the lines with this kind of disagreement; nothing without such
 * lines. */
static int say_lines(struct db *db, FILE *text, const char *kind,
                     const char *introduction, struct diag *diag)
{
        const char *separator = introduction;
        sqlite3_stmt *rows;
        int code = statement_prepare(db, lines_sql, &rows, diag);
        if (code)
                return code;
        sqlite3_bind_text(rows, 1, kind, -1, SQLITE_STATIC);
        sqlite3_bind_int(rows, 2, LINES_OF_EACH);
        while ((code = statement_next(db, rows, diag)) > 0) {
                char *line = statement_printable(rows, 0);
                fprintf(text, "%s%s (measured %.1f %%, stalled %.1f %%)", separator,
                        line ? line : "?", sqlite3_column_double(rows, 1),
                        sqlite3_column_double(rows, 2));
                separator = ", ";
                free(line);
        }
        if (separator != introduction)
                putc('.', text);
        sqlite3_finalize(rows);
        return code;
}

static int say_first_run(struct db *db, FILE *text, struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        int code = statement_first(db, agreement_sql, &row, diag);
        if (code > 0)
                say_agreement(text, row);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

static int say_disagreement(struct db *db, FILE *text, struct diag *diag)
{
        int64_t samples = 0;
        int code = statement_number(db, "SELECT total(samples) FROM clock_sample",
                                    &samples, diag);
        if (code < 0 || samples < VERDICT_SAMPLES_MIN)
                return code < 0 ? code : 0;
        code = say_lines(db, text, "unexplained",
                         "Time that no stall explains (computation, branches): ", diag);
        return code
                   ? code
                   : say_lines(db, text, "overrated",
                               " Stalls that the measured time does not confirm: ", diag);
}

static int print_wrapped(struct db *db, FILE *out,
                         int (*say)(struct db *, FILE *, struct diag *),
                         struct diag *diag)
{
        char *sentences = NULL;
        size_t length;
        FILE *text = open_memstream(&sentences, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = say(db, text, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code && *sentences)
                prose_wrapped(out, sentences + (*sentences == ' '));
        free(sentences);
        return code;
}

int report_print_agreement(struct db *db, FILE *out, const struct report_summary *summary,
                           struct diag *diag)
{
        return summary->has_first_run ? print_wrapped(db, out, say_first_run, diag) : 0;
}

int report_print_disagreement(struct db *db, FILE *out,
                              const struct report_summary *summary, struct diag *diag)
{
        return summary->has_first_run ? print_wrapped(db, out, say_disagreement, diag)
                                      : 0;
}
