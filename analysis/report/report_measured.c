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

static const char agreement_sql[] =
    "SELECT compared, shared, correlation, (SELECT total(samples) FROM clock_sample),"
    " EXISTS (SELECT 1 FROM line_clock_finding WHERE modelled_ratio IS NOT NULL)"
    " FROM clock_agreement_finding WHERE subject = 'line'";

/* clang-format off */
static const char lines_sql[] =
    "SELECT iif(file IS NULL, '', " REPORT_BASE("file") "|| coalesce(':' || line, '') || ' in ')"
    " ||" REPORT_FUNCTION_NAME ", 100 * measured_ratio, 100 * stalled_ratio"
    " FROM line_measured_view WHERE agreement = ?1"
    " ORDER BY abs(measured_ratio - stalled_ratio) DESC, line_id LIMIT ?2";
/* clang-format on */

static void say_agreement(FILE *text, sqlite3_stmt *row, bool few)
{
        int64_t compared = sqlite3_column_int64(row, 0);
        bool timed = sqlite3_column_int(row, 4);
        fprintf(text, "Measured in a first run (%" PRId64 " timer samples): ",
                (int64_t)sqlite3_column_int64(row, 3));
        if (few) {
                fputs("too few to compare with the model.", text);
                return;
        }
        if (compared == 0) {
                fputs("no line had 1 % of the time.", text);
                return;
        }
        fprintf(text, "%" PRId64 " of the ", (int64_t)sqlite3_column_int64(row, 1));
        prose_counted(text, compared, "hottest lines");
        fputs(timed ? " are among the ten that take most time in the model"
                    : " are among the ten that stall most in the model",
              text);
        if (sqlite3_column_type(row, 2) != SQLITE_NULL)
                fprintf(text, "; rank correlation %.2f", sqlite3_column_double(row, 2));
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

static int say_measured(struct db *db, FILE *text, struct diag *diag)
{
        sqlite3_stmt *row = NULL;
        int code = statement_first(db, agreement_sql, &row, diag);
        const bool few = code > 0 && sqlite3_column_int64(row, 3) < VERDICT_SAMPLES_MIN;
        if (code > 0)
                say_agreement(text, row, few);
        sqlite3_finalize(row);
        if (few)
                return 0;
        if (code >= 0)
                code = say_lines(
                    db, text, "unexplained",
                    " Time that no stall explains (computation, branches): ", diag);
        return code
                   ? code
                   : say_lines(db, text, "overrated",
                               " Stalls that the measured time does not confirm: ", diag);
}

int report_print_measured(struct db *db, FILE *out, const struct report_summary *summary,
                          struct diag *diag)
{
        char *sentences = NULL;
        size_t length;
        if (!summary->has_first_run)
                return 0;
        FILE *text = open_memstream(&sentences, &length);
        if (!text)
                return diag_no_memory(diag);
        int code = say_measured(db, text, diag);
        if (fclose(text))
                code = diag_no_memory(diag);
        if (!code)
                prose_wrapped(out, sentences);
        free(sentences);
        return code;
}
