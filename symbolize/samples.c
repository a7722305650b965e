/* SPDX-License-Identifier: MIT */
/* Reading samples. Only those that do not lie in the order of time are sorted, by SQLite,
 * which does that in a file. */
#include "samples.h"

#include <errno.h>
#include <sqlite3.h>

#define SAMPLE_ROWS                                                                      \
        "SELECT sample_id, time_ns, thread_id, ip, addr, stack_id, depth,"               \
        " cfa_offset_bytes FROM sample LEFT JOIN stack_access USING (sample_id)"

static int sqlite_error(const struct samples *samples, struct diag *diag)
{
        return diag_set(diag, -EIO, "cannot read the samples: %s",
                        sqlite3_errmsg(db_sqlite(samples->db)));
}

int samples_open(struct samples *samples, struct db *db, const struct raw *raw,
                 struct diag *diag)
{
        sqlite3_stmt *rows;
        int64_t before = INT64_MIN;
        int rc;

        *samples = (struct samples){.db = db, .raw = raw, .in_order = true};
        rc = sqlite3_prepare_v2(db_sqlite(db),
                                "SELECT time_ns FROM sample ORDER BY sample_id", -1,
                                &rows, NULL);
        while (rc == SQLITE_OK && samples->in_order &&
               (rc = sqlite3_step(rows)) == SQLITE_ROW) {
                samples->in_order = sqlite3_column_int64(rows, 0) >= before;
                before = sqlite3_column_int64(rows, 0);
                rc = SQLITE_OK;
        }
        int error =
            rc == SQLITE_OK || rc == SQLITE_DONE ? 0 : sqlite_error(samples, diag);

        sqlite3_finalize(rows);
        return error;
}

int samples_begin(struct samples *samples, struct diag *diag)
{
        const char *sql = samples->in_order ? SAMPLE_ROWS " ORDER BY sample_id"
                                            : SAMPLE_ROWS " ORDER BY time_ns, sample_id";

        samples_close(samples);
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
        if (sqlite3_column_type(row, 6) != SQLITE_NULL) {
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
        int rc = sqlite3_step(samples->rows);

        if (rc == SQLITE_DONE)
                return 0;
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
