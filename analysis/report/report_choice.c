/* SPDX-License-Identifier: MIT */
/* Says which part of the run the table covers if the user chose code. Shares still refer
 * to the whole run: without this text they would seem to refer to the table. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "prose.h"
#include "report.h"
#include "report_sql.h"
#include "statement.h"

/* clang-format off */
static const char chosen_sql[] =
    "SELECT coalesce('function ' || ?2, '')"
    " || iif(?2 IS NULL OR ?3 IS NULL, '', ', ') || coalesce('module ' || ?3, ''),"
    " count(*), total(samples), (SELECT total(samples) FROM function_finding),"
    " 100 * total(latency_share), 100 * sum(stalled_ratio) "
    "FROM function_finding WHERE" REPORT_CHOSEN;

/* Lines with a weight only. */
static const char verdicts_sql[] =
    "WITH part AS (SELECT" REPORT_VERDICT_NAME "AS name,"
    "  sum(weight) / sum(sum(weight)) OVER () AS share"
    "  FROM" REPORT_WEIGHED_LINES "WHERE" REPORT_CHOSEN "GROUP BY name) "
    "SELECT group_concat(said, ', ') FROM (SELECT printf('%.0f%% %s', 100 * share, name)"
    " AS said FROM part WHERE share >= 0.005 ORDER BY share DESC, name)";
/* clang-format on */

enum {
        COLUMN_NAME,
        COLUMN_FUNCTIONS,
        COLUMN_SAMPLES,
        COLUMN_ALL_SAMPLES,
        COLUMN_LATENCY,
        COLUMN_STALLED
};

bool report_is_chosen(const struct report_choice *choice)
{
        return choice->function || choice->module;
}

static int say_verdicts(struct db *db, const struct report_choice *choice, FILE *text,
                        struct diag *diag)
{
        sqlite3_stmt *row;
        int code = statement_prepare(db, verdicts_sql, &row, diag);

        if (code)
                return code;
        report_bind_choice(row, choice);
        code = statement_next(db, row, diag);
        char *verdicts = code > 0 ? statement_printable(row, 0) : NULL;

        if (verdicts)
                fprintf(text, "; by the verdict on its lines: %s", verdicts);
        free(verdicts);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}

/* ROW: a row of chosen_sql. */
static int say_code(struct db *db, const struct report_choice *choice,
                    const struct report_summary *summary, const char *name,
                    sqlite3_stmt *row, FILE *text, struct diag *diag)
{
        fprintf(text, "Only %s: %" PRId64 " of ", name,
                (int64_t)sqlite3_column_int64(row, COLUMN_SAMPLES));
        prose_counted(text, sqlite3_column_int64(row, COLUMN_ALL_SAMPLES), "samples");
        fprintf(text, ", %.1f%% of the %s", sqlite3_column_double(row, COLUMN_LATENCY),
                summary->timed ? "time of all timer samples" : "latency");
        if (summary->timed)
                return 0;
        if (sqlite3_column_type(row, COLUMN_STALLED) != SQLITE_NULL)
                fprintf(text, ", stalled %.1f%% of the cycles",
                        sqlite3_column_double(row, COLUMN_STALLED));
        return say_verdicts(db, choice, text, diag);
}

int report_print_choice(struct db *db, const struct report_options *options,
                        const struct report_summary *summary, bool *any, FILE *out,
                        struct diag *diag)
{
        sqlite3_stmt *row;
        char *sentence = NULL;
        size_t length;
        int code = statement_prepare(db, chosen_sql, &row, diag);

        if (code)
                return code;
        report_bind_choice(row, &options->choice);
        code = statement_next(db, row, diag);
        FILE *text = code > 0 ? open_memstream(&sentence, &length) : NULL;
        char *name = text ? statement_printable(row, COLUMN_NAME) : NULL;

        if (code > 0)
                code = name ? 0 : diag_no_memory(diag);
        *any = !code && sqlite3_column_int64(row, COLUMN_FUNCTIONS) > 0;
        if (!code && !*any)
                fprintf(text, "Only %s: no sample was there.", name);
        else if (!code && options->kind->of_data)
                fprintf(text, "Only what %s accessed, with the samples of all code",
                        name);
        else if (!code)
                code = say_code(db, &options->choice, summary, name, row, text, diag);
        free(name);
        if (text && fclose(text))
                code = diag_no_memory(diag);
        if (!code) {
                prose_wrapped(out, sentence);
                fputs(*any ? "\n" : "", out);
        }
        free(sentence);
        sqlite3_finalize(row);
        return code;
}
