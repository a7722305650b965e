/* SPDX-License-Identifier: MIT */
/* Gains that repeated simulated runs with a fix recorded (whatif_run, whatif_line). */
#include <math.h>
#include <sqlite3.h>

#include "difference.h"
#include "gain.h"
#include "statement.h"

/* The same limit as for estimates. */
#define GAIN_MIN_SQL "0.001"

/* The cycles and instructions of the first run. */
#define COUNTED(name)                                                                    \
        " (SELECT total(value) FROM reading JOIN counter USING (counter_id)"             \
        "  WHERE coalesce(stands_for, name) = '" name "') "

static void bind_gain(sqlite3_stmt *insert, const char *fix, double gain, double low,
                      double high)
{
        sqlite3_bind_text(insert, 2, fix, -1, SQLITE_TRANSIENT);
        sqlite3_bind_double(insert, 3, gain);
        sqlite3_bind_double(insert, 4, low);
        sqlite3_bind_double(insert, 5, high);
        sqlite3_bind_text(insert, 6, "recorded", -1, SQLITE_STATIC);
}

struct recorded_gains {
        struct db *db;
        sqlite3_stmt *insert;
        struct diag *diag;
        int code;
};

/* Cycles are counted, not sampled. But threads may execute more or fewer instructions
 * while they wait. The range spans the gain in cycles and the gain in cycles per
 * instruction. */
static int add_run(void *context, sqlite3_stmt *row)
{
        struct recorded_gains *gains = context;
        double part = sqlite3_column_double(row, 1);
        double work = sqlite3_column_double(row, 2);
        double gain = 1 - part, by_work = work > 0 ? 1 - part / work : gain;
        sqlite3_bind_null(gains->insert, 1);
        bind_gain(gains->insert, statement_text(row, 0), gain, fmin(gain, by_work),
                  fmax(gain, by_work));
        if (!gains->code)
                gains->code = statement_run(gains->db, gains->insert, gains->diag);
        return 0;
}

static struct estimate estimate_in(sqlite3_stmt *row, int column)
{
        return (struct estimate){sqlite3_column_double(row, column),
                                 sqlite3_column_double(row, column + 1),
                                 sqlite3_column_double(row, column + 2)};
}

static int add_line(void *context, sqlite3_stmt *row)
{
        enum { FIX, LINE, BEFORE, AFTER = BEFORE + 3 };
        struct recorded_gains *gains = context;
        const struct estimate before = estimate_in(row, BEFORE);
        const struct estimate after = estimate_in(row, AFTER);
        const struct estimate gain = estimate_difference(&after, &before);
        sqlite3_bind_int64(gains->insert, 1, sqlite3_column_int64(row, LINE));
        bind_gain(gains->insert, statement_text(row, FIX), gain.value, gain.low,
                  gain.high);
        if (!gains->code)
                gains->code = statement_run(gains->db, gains->insert, gains->diag);
        return 0;
}

/* SQL is laid out as SQL. */
/* clang-format off */
static const char runs_sql[] =
    "SELECT fix, cycles / cycles_before, instructions / instructions_before"
    " FROM whatif_run, (SELECT" COUNTED("cpu_clk_unhalted.thread") "AS cycles_before,"
    COUNTED("inst_retired.any") "AS instructions_before)"
    " WHERE cycles_before > 0 ORDER BY whatif_id";
/* A line that no longer stalls with the fix has no row. */
static const char lines_sql[] =
    "WITH run AS (SELECT whatif_id, fix, cycles / " COUNTED("cpu_clk_unhalted.thread")
    " AS part FROM whatif_run)"
    " SELECT r.fix, l.line_id, l.stalled_ratio, l.stalled_ratio_low, l.stalled_ratio_high,"
    " coalesce(w.stalled_ratio * part, 0), coalesce(w.stalled_low * part, 0),"
    " coalesce(w.stalled_high * part, 0)"
    " FROM run AS r JOIN line_finding AS l LEFT JOIN whatif_line AS w"
    " ON w.whatif_id = r.whatif_id AND w.file IS l.file AND w.line IS l.line"
    " AND w.function IS l.function AND w.module IS l.module"
    " AND w.function_offset IS l.function_offset"
    " WHERE l.stalled_ratio >= " GAIN_MIN_SQL
    " AND abs(l.stalled_ratio - coalesce(w.stalled_ratio * part, 0)) >= " GAIN_MIN_SQL
    " ORDER BY r.whatif_id, l.line_id";
/* clang-format on */

int gains_store_recorded(struct db *db, struct diag *diag)
{
        struct recorded_gains gains = {.db = db, .diag = diag};
        int code =
            statement_prepare(db, "INSERT INTO gain_finding VALUES (?, ?, ?, ?, ?, ?)",
                              &gains.insert, diag);
        if (code)
                return code;
        code = statement_each(db, runs_sql, add_run, &gains, diag);
        if (!code)
                code = statement_each(db, lines_sql, add_line, &gains, diag);
        sqlite3_finalize(gains.insert);
        return code ? code : gains.code;
}
