/* SPDX-License-Identifier: MIT */
/* A note below the table if chance alone may have put a row first. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "prose.h"
#include "report.h"
#include "statement.h"
#include "verdict.h"

/* Percent of the cycles; if no row can have more, the order does not matter. */
static const double WORTHWHILE_PERCENT = 1;

/* Selects the first row, and the number of other shown rows that may have stalled as
 * long. */
static int prepare(struct db *db, const struct report_options *options,
                   sqlite3_stmt **row, struct diag *diag)
{
        char *sql = sqlite3_mprintf("WITH top AS MATERIALIZED (SELECT * FROM %s),"
                                    " first AS (SELECT samples, stalled_ratio_low AS low,"
                                    "           stalled_ratio_high AS high FROM top"
                                    "           ORDER BY stalled_ratio DESC LIMIT 1) "
                                    "SELECT 100 * low, 100 * high, count(*) - 1"
                                    " FROM top, first WHERE stalled_ratio_high >= low"
                                    " AND stalled_ratio > 0 AND low < 1"
                                    " AND first.samples >= %lld",
                                    options->kind->shown, (long long)VERDICT_SAMPLES_MIN);
        int code = sql ? statement_prepare(db, sql, row, diag) : diag_no_memory(diag);
        sqlite3_free(sql);
        if (code)
                return code;
        sqlite3_bind_int64(*row, 1, options->top);
        report_bind_choice(*row, &options->choice);
        return 0;
}

int report_explain_range(struct db *db, const struct report_options *options, FILE *out,
                         struct diag *diag)
{
        sqlite3_stmt *row;
        /* Types are ordered by the sums of their fields. */
        if (!options->kind->shown || strcmp(options->kind->name, "type") == 0)
                return 0;
        int code = prepare(db, options, &row, diag);
        if (code)
                return code;
        code = statement_next(db, row, diag);
        bool matters = code > 0 && sqlite3_column_double(row, 1) >= WORTHWHILE_PERCENT;
        int64_t others = matters ? sqlite3_column_int64(row, 2) : 0;
        char *sentence = NULL;
        size_t length;
        FILE *text = others > 0 ? open_memstream(&sentence, &length) : NULL;
        if (text) {
                fprintf(text,
                        "stalled is an estimate of samples: the first row's lies between "
                        "%.1f and %.1f%% with 95 %% confidence, and ",
                        sqlite3_column_double(row, 0), sqlite3_column_double(row, 1));
                prose_counted(text, others, "other rows");
                fputs(" may have as much.", text);
                if (fclose(text) == 0)
                        prose_wrapped(out, sentence);
        }
        free(sentence);
        sqlite3_finalize(row);
        return code < 0 ? code : 0;
}
