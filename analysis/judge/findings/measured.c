/* SPDX-License-Identifier: MIT */
/* See measured.h. */
#include "measured.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "array.h"
#include "statement.h"
#include "tally.h"

/* ---- shares ---- */

struct first_run {
        double samples;
        double user_ratio; /* of its CPU time */
};

static int read_first_run(struct db *db, struct first_run *run, struct diag *diag)
{
        int64_t samples;
        int code = statement_number(db, "SELECT total(samples) FROM clock_sample",
                                    &samples, diag);
        double user = (double)db_run_int(db, "clock_user_ns", 0);
        double kernel = (double)db_run_int(db, "clock_kernel_ns", 0);
        *run = (struct first_run){(double)samples,
                                  user + kernel > 0 ? user / (user + kernel) : 1};
        return code < 0 ? code : 0;
}

/* Column 6 holds the row's samples, column 7 its modelled time; all columns match the
 * parameters of INSERT. */
struct share_rows {
        struct first_run run;
        sqlite3_stmt *insert;
        struct db *db;
        struct diag *diag;
        int code;
};

enum { COLUMN_SAMPLES = 6, COLUMN_MODELLED };

static int store_share(void *context, sqlite3_stmt *row)
{
        struct share_rows *rows = context;
        if (rows->code)
                return 0;
        for (int i = 0; i <= COLUMN_MODELLED; i++)
                sqlite3_bind_value(rows->insert, i + 1, sqlite3_column_value(row, i));
        double n = rows->run.samples;
        const struct share share =
            sampled_share(sqlite3_column_double(row, COLUMN_SAMPLES) / n, n);
        const double shares[] = {share.value, share.low, share.high};
        for (int i = 0; i < 3; i++)
                sqlite3_bind_double(rows->insert, COLUMN_MODELLED + 2 + i,
                                    rows->run.user_ratio * shares[i]);
        rows->code = statement_run(rows->db, rows->insert, rows->diag);
        return 0;
}

static int store_shares(struct db *db, const struct first_run *run, const char *select,
                        const char *insert, statement_take *store, struct diag *diag)
{
        struct share_rows rows = {.run = *run, .db = db, .diag = diag};
        int code = statement_prepare(db, insert, &rows.insert, diag);
        if (!code)
                code = statement_each(db, select, store, &rows, diag);
        sqlite3_finalize(rows.insert);
        return code ? code : rows.code;
}

/* Compares the names of a row as grouping.c does. */
#define SAME_FUNCTION                                                                    \
        " f.module IS g.module AND f.function IS g.function"                             \
        " AND f.function_offset IS g.function_offset "
/* Timer samples of the first run, and the second's time without stalls, by location. */
#define SAMPLES_BY                                                                       \
        " sum(s.samples) AS samples, sum(s.instructions) AS instructions FROM ("         \
        "SELECT location_id, samples, 0 AS instructions FROM clock_sample"               \
        " JOIN clock_location USING (clock_sample_id)"                                   \
        " UNION ALL SELECT location_id, 0, samples FROM instruction_sample"              \
        " JOIN instruction_sample_location USING (instruction_sample_id)) AS s"          \
        " JOIN location AS l USING (location_id)"                                        \
        " LEFT JOIN module AS m ON m.module_id = l.module_id GROUP BY "
/* Stalls of the row's accesses, and its part of the cycles without stalls and page faults
 * by instruction_sample. Page faults are left out as in measured time. */
#define MODELLED                                                                         \
        " coalesce(f.stalled_ratio, 0) - coalesce(f.fault_ratio, 0)"                     \
        " + (SELECT max(0, 1 - total(stalled_ratio)) FROM function_finding)"             \
        " * g.instructions"                                                              \
        " / (SELECT nullif(total(samples), 0) FROM instruction_sample) "

static const char lines_sql[] =
    "WITH g AS (SELECT m.path AS module, l.function, l.function_offset, l.file, "
    "l.line," SAMPLES_BY "1, 2, 3, 4, 5) "
    "SELECT f.line_id, g.module, g.function, g.function_offset, g.file, g.line, "
    "g.samples," MODELLED "FROM g LEFT JOIN line_finding AS f ON" SAME_FUNCTION
    " AND f.file IS g.file AND f.line IS g.line"
    " ORDER BY g.samples DESC, 2, 3, 4, 5, 6";
static const char insert_line_sql[] =
    "INSERT INTO line_clock_finding (line_id, module, function, function_offset, file,"
    " line, samples, modelled_ratio, measured_ratio, measured_ratio_low,"
    " measured_ratio_high) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/* NULLs replace a line's file and number. */
static const char functions_sql[] =
    "WITH g AS (SELECT m.path AS module, l.function, l.function_offset," SAMPLES_BY
    "1, 2, 3) "
    "SELECT f.function_id, g.module, g.function, g.function_offset, NULL, NULL, "
    "g.samples," MODELLED "FROM g LEFT JOIN function_finding AS f ON" SAME_FUNCTION
    " ORDER BY g.samples DESC, 2, 3, 4";
static const char insert_function_sql[] =
    "INSERT INTO function_clock_finding (function_id, module, function, function_offset,"
    " samples, modelled_ratio, measured_ratio, measured_ratio_low, measured_ratio_high)"
    " VALUES (?1, ?2, ?3, ?4, ?7, ?8, ?9, ?10, ?11)";

/* ---- objects ---- */

/* Per object: timer samples at its instructions by the stalls there, at instructions of
 * this object alone, and at all instructions that access it. Page faults are left out:
 * the timer does not see the kernel. */
static const char objects_sql[] =
    "WITH access AS (SELECT p.location_id, a.object_id,"
    "  total(1 + max(coalesce(s.retire_latency_cycles, 0), 0)) AS weight"
    "  FROM sample AS s JOIN sample_location AS p USING (sample_id)"
    "  LEFT JOIN attribution AS a USING (sample_id) WHERE p.location_id IS NOT NULL"
    "  AND s.data_source_id IS NOT NULL"
    "  AND s.sample_id NOT IN (SELECT sample_id FROM page_fault) GROUP BY 1, 2),"
    " part AS (SELECT *, weight / sum(weight) OVER (PARTITION BY location_id) AS part,"
    "  count(*) OVER (PARTITION BY location_id) = 1 AS alone FROM access),"
    " timed AS (SELECT location_id, sum(samples) AS samples FROM clock_sample"
    "  JOIN clock_location USING (clock_sample_id) GROUP BY 1) "
    "SELECT object_id, total(part * samples), total(iif(alone, samples, 0)), "
    "total(samples)"
    " FROM part LEFT JOIN timed USING (location_id) WHERE object_id IS NOT NULL"
    " GROUP BY object_id";
static const char insert_object_sql[] =
    "INSERT INTO object_clock_finding (object_id, samples, measured_ratio,"
    " measured_ratio_low, measured_ratio_high) VALUES (?1, ?2, ?3, ?4, ?5)";

static int store_object(void *context, sqlite3_stmt *row)
{
        struct share_rows *rows = context;
        if (rows->code)
                return 0;
        double n = rows->run.samples, ratio = rows->run.user_ratio;
        sqlite3_bind_value(rows->insert, 1, sqlite3_column_value(row, 0));
        sqlite3_bind_double(rows->insert, 2, sqlite3_column_double(row, 1));
        sqlite3_bind_double(rows->insert, 3, ratio * sqlite3_column_double(row, 1) / n);
        const struct share least = sampled_share(sqlite3_column_double(row, 2) / n, n);
        const struct share most = sampled_share(sqlite3_column_double(row, 3) / n, n);
        sqlite3_bind_double(rows->insert, 4, ratio * least.low);
        sqlite3_bind_double(rows->insert, 5, ratio * most.high);
        rows->code = statement_run(rows->db, rows->insert, rows->diag);
        return 0;
}

/* ---- agreement ---- */

/* 1 + the number of lesser values + half of the number of other equal values. */
static double rank_of(const double *values, size_t count, double value)
{
        double rank = 0.5;
        for (size_t i = 0; i < count; i++)
                rank += values[i] < value ? 1 : values[i] == value ? 0.5 : 0;
        return rank;
}

double measured_rank_correlation(const double *a, const double *b, size_t count)
{
        double mean = ((double)count + 1) / 2, ab = 0, aa = 0, bb = 0;
        for (size_t i = 0; i < count; i++) {
                double x = rank_of(a, count, a[i]) - mean;
                double y = rank_of(b, count, b[i]) - mean;
                ab += x * y;
                aa += x * x;
                bb += y * y;
        }
        return count >= 3 && aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

/* Compares rows with at least 1 % of the measured time or of the modelled time. Of a
 * short run one sample is more than that, and chance. Modelled time excludes page faults,
 * because the timer does not see the kernel. It is stall time where that is not known. */
#define COMPARED_RATIO "0.01"
#define COMPARED_ROWS  "10"
#define HOT_SAMPLES    "5"
enum { COMPARED_MOST = 20 };

#define COMPARED_STALLS " coalesce(f.stalled_ratio, 0) - coalesce(f.fault_ratio, 0)"
#define COMPARED_SQL(finding, clock, id)                                                 \
        "WITH pair AS (SELECT c." clock "_id AS clock_id, f." id " AS id,"               \
        "  c.samples AS samples, c.measured_ratio AS measured,"                          \
        "  coalesce(c.modelled_ratio," COMPARED_STALLS ") AS modelled"                   \
        "  FROM " clock "_finding AS c LEFT JOIN " finding " AS f USING (" id ")"        \
        " UNION ALL SELECT NULL, f." id ", 0, 0," COMPARED_STALLS " FROM " finding       \
        "  AS f WHERE f.module IS NOT NULL"                                              \
        "  AND f." id " NOT IN (SELECT " id " FROM " clock "_finding"                    \
        "   WHERE " id " IS NOT NULL)),"                                                 \
        " ranked AS (SELECT *,"                                                          \
        "  measured >= " COMPARED_RATIO " AND samples >= " HOT_SAMPLES                   \
        "  AND row_number() OVER (ORDER BY measured DESC, clock_id) <= " COMPARED_ROWS   \
        "  AS hot,"                                                                      \
        "  row_number() OVER (ORDER BY modelled DESC, id, clock_id) AS place FROM "      \
        "pair) "                                                                         \
        "SELECT measured, modelled, hot, place <= " COMPARED_ROWS " AND modelled > 0"    \
        " FROM ranked WHERE hot OR (place <= " COMPARED_ROWS                             \
        " AND modelled >= " COMPARED_RATIO ")"

/* Each row has both ratios, and whether it is among the first rows by either ratio. */
struct compared {
        double measured[COMPARED_MOST];
        double modelled[COMPARED_MOST];
        size_t count;
        int64_t hot;
        int64_t shared;
};

static int take_compared(void *context, sqlite3_stmt *row)
{
        struct compared *compared = context;
        bool hot = sqlite3_column_int(row, 2);
        compared->measured[compared->count] = sqlite3_column_double(row, 0);
        compared->modelled[compared->count++] = sqlite3_column_double(row, 1);
        compared->hot += hot;
        compared->shared += hot && sqlite3_column_int(row, 3);
        return 0;
}

static int store_agreement(struct db *db, const char *subject, const char *sql,
                           struct diag *diag)
{
        struct compared compared = {.count = 0};
        sqlite3_stmt *insert;
        int code = statement_each(db, sql, take_compared, &compared, diag);
        if (!code)
                code = statement_prepare(
                    db, "INSERT INTO clock_agreement_finding VALUES (?1, ?2, ?3, ?4)",
                    &insert, diag);
        if (code)
                return code;
        sqlite3_bind_text(insert, 1, subject, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, compared.hot);
        sqlite3_bind_int64(insert, 3, compared.shared);
        statement_bind_real(insert, 4,
                            measured_rank_correlation(compared.measured,
                                                      compared.modelled, compared.count));
        code = statement_run(db, insert, diag);
        sqlite3_finalize(insert);
        return code;
}

int measured_store(struct db *db, struct diag *diag)
{
        struct first_run run;
        int code = read_first_run(db, &run, diag);
        if (code || !(run.samples > 0))
                return code;
        code = store_shares(db, &run, lines_sql, insert_line_sql, store_share, diag);
        if (!code)
                code = store_shares(db, &run, functions_sql, insert_function_sql,
                                    store_share, diag);
        if (!code)
                code = store_shares(db, &run, objects_sql, insert_object_sql,
                                    store_object, diag);
        if (!code)
                code = store_agreement(
                    db, "line", COMPARED_SQL("line_finding", "line_clock", "line_id"),
                    diag);
        return code ? code
                    : store_agreement(db, "function",
                                      COMPARED_SQL("function_finding", "function_clock",
                                                   "function_id"),
                                      diag);
}
