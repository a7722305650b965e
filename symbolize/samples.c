/* SPDX-License-Identifier: MIT */
/* Reading samples. Only those that do not lie in the order of time are sorted, by SQLite,
 * which does that in a file. */
#include "samples.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

static int sqlite_error(const struct samples *samples, struct diag *diag)
{
        return db_error(samples->db, "read", diag);
}

/* Whether ids ascend with time, and whether there are data addresses. */
static int find_facts(struct samples *samples, struct diag *diag)
{
        sqlite3_stmt *rows;
        int64_t before = INT64_MIN;
        int rc = sqlite3_prepare_v2(db_sqlite(samples->db),
                                    "SELECT time_ns, addr IS NOT NULL FROM sample"
                                    " ORDER BY sample_id",
                                    -1, &rows, NULL);

        samples->in_order = true;
        while (rc == SQLITE_OK && (samples->in_order || !samples->addressed) &&
               (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                int64_t time_ns = sqlite3_column_int64(rows, 0);

                samples->in_order &= time_ns >= before;
                samples->addressed |= sqlite3_column_int(rows, 1) != 0;
                before = time_ns;
                rc = SQLITE_OK;
        }
        int error =
            rc == SQLITE_OK || rc == SQLITE_DONE ? 0 : sqlite_error(samples, diag);

        sqlite3_finalize(rows);
        return error;
}

static int find_frames(struct samples *samples, struct diag *diag)
{
        sqlite3_stmt *row;
        int rc = sqlite3_prepare_v2(db_sqlite(samples->db),
                                    "SELECT 1 FROM stack_access LIMIT 1", -1, &row, NULL);

        if (rc == SQLITE_OK)
                rc = sqlite3_step(row);
        samples->in_frames = rc == SQLITE_ROW;
        int error =
            rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : sqlite_error(samples, diag);

        sqlite3_finalize(row);
        return error;
}

int samples_open(struct samples *samples, struct db *db, const struct raw *raw,
                 struct diag *diag)
{
        *samples = (struct samples){.db = db, .raw = raw};
        int error = find_facts(samples, diag);

        return error ? error : find_frames(samples, diag);
}

int samples_begin(struct samples *samples, struct diag *diag)
{
        char sql[256];

        samples_close(samples);
        snprintf(sql, sizeof(sql),
                 "SELECT sample_id, time_ns, thread_id, ip, addr, stack_id, %s"
                 " FROM sample %s ORDER BY %s sample_id",
                 samples->in_frames ? "depth, cfa_offset_bytes" : "NULL, NULL",
                 samples->in_frames ? "LEFT JOIN stack_access USING (sample_id)" : "",
                 samples->in_order ? "" : "time_ns,");
        return sqlite3_prepare_v2(db_sqlite(samples->db), sql, -1, &samples->rows,
                                  NULL) == SQLITE_OK
                   ? 0
                   : sqlite_error(samples, diag);
}

static void take_row(const struct samples *samples, struct raw_sample *sample)
{
        const struct raw *raw = samples->raw;
        sqlite3_stmt *row = samples->rows;

        *sample = (struct raw_sample){
            .sample_id = sqlite3_column_int64(row, 0),
            .time_ns = sqlite3_column_int64(row, 1),
            .thread = raw_index(row, 2, raw->thread_ids, raw->thread_count),
            .ip = (uint64_t)sqlite3_column_int64(row, 3),
            .addr = (uint64_t)sqlite3_column_int64(row, 4),
            .has_addr = sqlite3_column_type(row, 4) != SQLITE_NULL,
            .stack = raw_index(row, 5, raw->stack_ids, raw->stack_count),
            .process = RAW_NONE,
            .stack_depth = RAW_NONE};
        if (samples->in_frames && sqlite3_column_type(row, 6) != SQLITE_NULL) {
                int64_t depth = sqlite3_column_int64(row, 6);

                if (depth >= 0 && depth < RAW_NONE)
                        sample->stack_depth = (uint32_t)depth;
                sample->cfa_offset_bytes = sqlite3_column_int64(row, 7);
        }
        if (sample->thread != RAW_NONE)
                sample->process = raw->threads[sample->thread].process;
}

int samples_next(struct samples *samples, struct raw_sample *sample, struct diag *diag)
{
        if (!samples->rows)
                return 0;
        int rc = sqlite3_step(samples->rows);

        if (rc == SQLITE_DONE) { /* SQLite would begin anew */
                samples_close(samples);
                return 0;
        }
        if (rc != SQLITE_ROW)
                return sqlite_error(samples, diag);
        take_row(samples, sample);
        return 1;
}

void samples_close(struct samples *samples)
{
        sqlite3_finalize(samples->rows);
        samples->rows = NULL;
}
