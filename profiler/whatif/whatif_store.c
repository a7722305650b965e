/* SPDX-License-Identifier: MIT */
/* See whatif_store.h. */
#include "whatif_store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simpmu/path_hash.h"

/* Runs SQL with TEXT as its parameters. */
static int run_with(struct db *db, const char *sql, const char *const *text, size_t count,
                    struct diag *diag)
{
        sqlite3_stmt *statement = NULL;
        int rc = sqlite3_prepare_v2(db_sqlite(db), sql, -1, &statement, NULL);
        for (size_t i = 0; !rc && i < count; i++)
                rc = sqlite3_bind_text(statement, (int)i + 1, text[i], -1, SQLITE_STATIC);
        if (!rc)
                rc = sqlite3_step(statement);
        bool done = rc == SQLITE_DONE || rc == SQLITE_ROW;
        if (sqlite3_finalize(statement) != SQLITE_OK || !done)
                return db_error(db, "write", diag);
        return 0;
}

/* The first number that SQL gives with TEXT as its parameter; 0 without any. */
static double number_of(struct db *db, const char *sql, const char *text)
{
        sqlite3_stmt *row = NULL;
        double number = 0;
        if (sqlite3_prepare_v2(db_sqlite(db), sql, -1, &row, NULL) == SQLITE_OK &&
            sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
            sqlite3_step(row) == SQLITE_ROW)
                number = sqlite3_column_double(row, 0);
        sqlite3_finalize(row);
        return number;
}

static int join_settings(const struct whatif_fix *fix, char **joined, struct diag *diag)
{
        size_t size;
        FILE *text = open_memstream(joined, &size);
        if (!text)
                return diag_no_memory(diag);
        for (size_t i = 0; i < fix->count; i++)
                fprintf(text, "%s%s", i ? " " : "", fix->settings[i]);
        return fclose(text) == 0 ? 0 : diag_no_memory(diag);
}

/* SQLite does not treat some relative names as files. */
static int attach(struct db *db, const char *file, struct diag *diag)
{
        char *path = sqlite3_mprintf("%s%s", *file == '/' ? "" : "./", file);
        if (!path)
                return diag_no_memory(diag);
        const char *const text[] = {path};
        int rc = run_with(db, "ATTACH ?1 AS made", text, 1, diag);
        sqlite3_free(path);
        return rc;
}

static int copy(struct db *db, const struct whatif_run *run, const char *settings,
                struct diag *diag)
{
        const char *const text[] = {run->fix.name, settings};
        int rc = db_exec(db, "BEGIN IMMEDIATE", diag);
        if (rc < 0)
                return rc;
        rc = run_with(
            db,
            "INSERT INTO main.whatif_run (fix, settings, cycles, instructions)"
            " SELECT ?1, ?2, coalesce(sum(value) FILTER (WHERE name ="
            " 'cpu_clk_unhalted.thread'), 0), coalesce(sum(value) FILTER (WHERE name ="
            " 'inst_retired.any'), 0) FROM made.reading JOIN made.counter USING "
            "(counter_id)",
            text, 2, diag);
        if (rc == 0)
                rc = db_exec(db,
                             "INSERT INTO main.whatif_line SELECT (SELECT max(whatif_id) "
                             "FROM main.whatif_run),"
                             " module, function, function_offset, file, line,"
                             " stalled_ratio, stalled_ratio_low, stalled_ratio_high"
                             " FROM made.line_finding WHERE stalled_ratio > 0",
                             diag);
        if (rc == 0)
                rc = db_exec(db, "COMMIT", diag);
        if (rc < 0)
                db_exec(db, "ROLLBACK", NULL);
        return rc;
}

int whatif_store(struct db *db, const struct whatif_run *run, struct diag *diag)
{
        char *settings = NULL;
        int rc = attach(db, run->file, diag);
        if (rc < 0)
                return rc;
        bool same = number_of(db,
                              "SELECT (SELECT value FROM main.run WHERE key = ?1) IS"
                              " (SELECT value FROM made.run WHERE key = ?1)",
                              "exit_status") != 0;
        if (!same)
                rc = diag_set(diag, -ECANCELED,
                              "the command ended with another status than in the first "
                              "run; let it do the same each time it is run");
        if (rc == 0)
                rc = join_settings(&run->fix, &settings, diag);
        if (rc == 0)
                rc = copy(db, run, settings, diag);
        free(settings);
        struct diag ignored;
        int end = db_exec(db, "DETACH made", rc < 0 ? &ignored : diag);
        return rc < 0 ? rc : end;
}

double whatif_recorded_gain(struct db *db, const char *fix)
{
        return number_of(db,
                         "SELECT 1 - 1.0 * cycles / (SELECT sum(value) FROM reading JOIN"
                         " counter USING (counter_id) WHERE name ="
                         " 'cpu_clk_unhalted.thread') FROM whatif_run WHERE fix = ?1",
                         fix);
}

double whatif_estimated_gain(struct db *db, const char *fix)
{
        return number_of(db,
                         "SELECT gain_ratio FROM gain_finding WHERE line_id IS NULL"
                         " AND kind = 'estimate' AND fix = ?1",
                         fix);
}

/* Hands the names that ROWS gives to TAKE, and finalizes it. RC: SQLite's result so far.
 */
static int each_name(struct db *db, sqlite3_stmt *rows, int rc,
                     int (*take)(void *context, const char *fix), void *context,
                     struct diag *diag)
{
        int code = 0;
        while (!rc && !code && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                code = take(context, (const char *)sqlite3_column_text(rows, 0));
                rc = SQLITE_OK;
        }
        sqlite3_finalize(rows);
        return !code && rc != SQLITE_DONE ? db_error(db, "read", diag) : code;
}

int whatif_each_estimate(struct db *db, double least,
                         int (*take)(void *context, const char *fix), void *context,
                         struct diag *diag)
{
        sqlite3_stmt *rows = NULL;
        int rc = sqlite3_prepare_v2(db_sqlite(db),
                                    "SELECT fix FROM gain_finding WHERE line_id IS NULL"
                                    " AND kind = 'estimate' AND gain_ratio >= ?1"
                                    " ORDER BY gain_ratio DESC, fix",
                                    -1, &rows, NULL);
        if (!rc)
                rc = sqlite3_bind_double(rows, 1, least);
        return each_name(db, rows, rc, take, context, diag);
}

int whatif_each_line(struct db *db, double least, int count,
                     int (*take)(void *context, const char *fix), void *context,
                     struct diag *diag)
{
        sqlite3_stmt *rows = NULL;
        int rc = sqlite3_prepare_v2(
            db_sqlite(db),
            "SELECT 'line:' || substr(file, length(rtrim(file, replace(file, '/', ''))) +"
            " 1) || ':' || line || '=in-time' FROM gain_finding JOIN line_finding USING "
            "(line_id) WHERE kind = 'estimate' AND fix = 'in-time' AND gain_ratio >= ?1"
            " AND file IS NOT NULL AND line > 0 ORDER BY gain_ratio DESC, line_id"
            " LIMIT ?2",
            -1, &rows, NULL);
        if (!rc)
                rc = sqlite3_bind_double(rows, 1, least);
        if (!rc)
                rc = sqlite3_bind_int(rows, 2, count);
        return each_name(db, rows, rc, take, context, diag);
}

static int add_place(struct whatif_fix *fix, sqlite3_stmt *row, struct diag *diag)
{
        struct simpmu_in_time *grown =
            reallocarray(fix->in_time, fix->in_time_count + 1, sizeof(*grown));
        if (!grown)
                return diag_no_memory(diag);
        fix->in_time = grown;
        grown[fix->in_time_count++] =
            (struct simpmu_in_time){path_hash((const char *)sqlite3_column_text(row, 0)),
                                    (uint64_t)sqlite3_column_int64(row, 1)};
        return 0;
}

int whatif_find_line(struct db *db, const char *file, int64_t line,
                     struct whatif_fix *fix, struct diag *diag)
{
        static const char sql[] =
            "SELECT DISTINCT m.path, s.ip - g.start_addr + g.file_offset_bytes"
            " FROM sample AS s JOIN sample_location USING (sample_id)"
            " JOIN location AS l USING (location_id) JOIN thread USING (thread_id)"
            " JOIN mapping AS g USING (process_id)"
            " JOIN module AS m ON m.module_id = g.module_id"
            " WHERE l.line = ?2 AND (l.file = ?1 OR substr(l.file, -length(?1) - 1) ="
            " '/' || ?1) AND s.ip >= g.start_addr"
            " AND s.ip < g.start_addr + g.length_bytes";
        sqlite3_stmt *rows = NULL;
        int code = 0, rc = sqlite3_prepare_v2(db_sqlite(db), sql, -1, &rows, NULL);
        if (!rc)
                rc = sqlite3_bind_text(rows, 1, file, -1, SQLITE_STATIC);
        if (!rc)
                rc = sqlite3_bind_int64(rows, 2, line);
        while (!rc && !code && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                code = add_place(fix, rows, diag);
                rc = SQLITE_OK;
        }
        sqlite3_finalize(rows);
        if (!code && rc != SQLITE_DONE)
                return db_error(db, "read", diag);
        if (!code && fix->in_time_count == 0)
                code = diag_set(diag, -ENOENT,
                                "%s: no sample is of that line; lines with samples are "
                                "in 'memlag report --top 0'",
                                fix->name);
        if (!code && fix->in_time_count > SIMPMU_IN_TIME_MAX)
                code = diag_set(diag, -E2BIG,
                                "%s: samples are of %zu instructions of that line, and "
                                "the simulated PMU takes %u; choose an inner line",
                                fix->name, fix->in_time_count, SIMPMU_IN_TIME_MAX);
        return code;
}
