/* SPDX-License-Identifier: MIT */
/* Reads samples. Most are stored in time order, which is checked while reading. For the
 * others SQLite sorts, in a file. */
#include "samples.h"

#include <sqlite3.h>
#include <stdio.h>

#include "bulk_insert.h"

int samples_open(struct samples *samples, struct db *db, const struct raw *raw,
                 struct diag *diag)
{
        *samples = (struct samples){.db = db, .raw = raw, .before_ns = INT64_MIN};
        int others = select_any(db, "SELECT 1 FROM other_stack_access LIMIT 1", diag);
        int own = others < 0 ? others
                             : select_any(db, "SELECT 1 FROM stack_access LIMIT 1", diag);

        samples->in_others = others > 0;
        samples->in_frames = others > 0 || own > 0;
        return own < 0 ? own : 0;
}

/* The number of SAMPLE's data source among raw's; RAW_NONE: a load's, or unknown. */
static uint32_t source_of(const struct samples *samples, const struct raw_sample *sample)
{
        const struct raw *raw = samples->raw;

        return sample->has_source
                   ? raw_index(sample->data_source_id, raw->source_ids, raw->source_count)
                   : RAW_NONE;
}

bool samples_is_store(const struct samples *samples, const struct raw_sample *sample)
{
        const uint32_t source = source_of(samples, sample);

        return source != RAW_NONE && samples->raw->stores[source];
}

bool samples_is_access(const struct samples *samples, const struct raw_sample *sample)
{
        const uint32_t source = source_of(samples, sample);

        return source == RAW_NONE || samples->raw->stores[source];
}

/* ---- one after the other ---- */

struct reading {
        struct samples *samples;
        samples_visit *visit;
        void *context;
        int error; /* of the visit */
};

enum {
        COLUMN_SAMPLE,
        COLUMN_TIME,
        COLUMN_THREAD,
        COLUMN_IP,
        COLUMN_ADDR,
        COLUMN_STACK,
        COLUMN_SOURCE,
        COLUMNS,
        COLUMN_DEPTH = COLUMNS, /* only if samples have frames */
        COLUMN_CFA_OFFSET,
        COLUMN_OTHER_STACK,
        COLUMNS_IN_FRAMES
};

static uint32_t index_of(sqlite3_value *id, const int64_t *ids, size_t count)
{
        return sqlite3_value_type(id) == SQLITE_NULL
                   ? RAW_NONE
                   : raw_index(sqlite3_value_int64(id), ids, count);
}

/* Reads the frame that SAMPLE accessed, of its thread or another one, if known. */
static void take_frame(const struct samples *samples, sqlite3_value **row,
                       struct raw_sample *sample)
{
        const struct raw *raw = samples->raw;

        if (sqlite3_value_type(row[COLUMN_DEPTH]) != SQLITE_NULL) {
                int64_t depth = sqlite3_value_int64(row[COLUMN_DEPTH]);

                if (depth >= 0 && depth < RAW_NONE)
                        sample->stack_depth = (uint32_t)depth;
        } else {
                sample->other_stack =
                    index_of(row[COLUMN_OTHER_STACK], raw->stack_ids, raw->stack_count);
        }
        sample->cfa_offset_bytes = sqlite3_value_int64(row[COLUMN_CFA_OFFSET]);
}

static void read_row(const struct samples *samples, int count, sqlite3_value **row,
                     struct raw_sample *sample)
{
        const struct raw *raw = samples->raw;

        *sample = (struct raw_sample){
            .sample_id = sqlite3_value_int64(row[COLUMN_SAMPLE]),
            .time_ns = sqlite3_value_int64(row[COLUMN_TIME]),
            .thread = index_of(row[COLUMN_THREAD], raw->thread_ids, raw->thread_count),
            .ip = (uint64_t)sqlite3_value_int64(row[COLUMN_IP]),
            .addr = (uint64_t)sqlite3_value_int64(row[COLUMN_ADDR]),
            .has_addr = sqlite3_value_type(row[COLUMN_ADDR]) != SQLITE_NULL,
            .stack = index_of(row[COLUMN_STACK], raw->stack_ids, raw->stack_count),
            .has_source = sqlite3_value_type(row[COLUMN_SOURCE]) != SQLITE_NULL,
            .data_source_id = sqlite3_value_int64(row[COLUMN_SOURCE]),
            .process = RAW_NONE,
            .stack_depth = RAW_NONE,
            .other_stack = RAW_NONE};
        if (count == COLUMNS_IN_FRAMES)
                take_frame(samples, row, sample);
        if (sample->thread != RAW_NONE)
                sample->process = raw->threads[sample->thread].process;
}

/* The SQL function that gets each row. It returns NULL, so the result omits the row: a
 * result with rows would cost half as much again. */
static void visit_row(sqlite3_context *call, int count, sqlite3_value **row)
{
        struct reading *reading = sqlite3_user_data(call);
        struct samples *samples = reading->samples;
        struct raw_sample sample;

        read_row(samples, count, row, &sample);
        samples->addressed |= sample.has_addr;
        samples->out_of_order |= sample.time_ns < samples->before_ns;
        samples->before_ns = sample.time_ns;
        reading->error = reading->visit(reading->context, &sample);
        if (reading->error)
                sqlite3_result_error_code(call, SQLITE_ABORT);
}

static const char visit_name[] = "visit_sample";

/* The LIMIT makes SQLite sort by time before it visits rows, because it must know the
 * rows within a limit. Without a sort, rows come in the order of their ids. That order
 * would look like a violation of the time order. */
static int prepare(const struct samples *samples, sqlite3_stmt **rows)
{
        /* An empty table is not joined with each sample. */
        static const char own_sql[] =
            ", own.depth, own.cfa_offset_bytes AS offset, NULL AS other_stack FROM sample"
            " LEFT JOIN stack_access AS own USING (sample_id)";
        static const char others_sql[] =
            ", own.depth, coalesce(own.cfa_offset_bytes, other.cfa_offset_bytes) AS "
            "offset,"
            " other.stack_id AS other_stack FROM sample"
            " LEFT JOIN stack_access AS own USING (sample_id)"
            " LEFT JOIN other_stack_access AS other USING (sample_id)";
        char sql[1024];

        snprintf(sql, sizeof(sql),
                 "SELECT 1 FROM (SELECT sample_id, time_ns, thread_id, ip, addr,"
                 " sample.stack_id, data_source_id %s ORDER BY %s sample_id %s) "
                 "WHERE %s(sample_id, time_ns, thread_id, ip, addr, stack_id,"
                 " data_source_id %s)",
                 samples->in_others   ? others_sql
                 : samples->in_frames ? own_sql
                                      : "FROM sample",
                 samples->by_time ? "time_ns," : "", samples->by_time ? "LIMIT -1" : "",
                 visit_name, samples->in_frames ? ", depth, offset, other_stack" : "");
        return sqlite3_prepare_v2(db_sqlite(samples->db), sql, -1, rows, NULL);
}

static int define_visit(struct reading *reading, bool defined)
{
        return sqlite3_create_function(db_sqlite(reading->samples->db), visit_name,
                                       reading->samples->in_frames ? COLUMNS_IN_FRAMES
                                                                   : COLUMNS,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, reading,
                                       defined ? visit_row : NULL, NULL, NULL);
}

int samples_each(struct samples *samples, samples_visit *visit, void *context,
                 struct diag *diag)
{
        struct reading reading = {samples, visit, context, 0};
        sqlite3_stmt *rows = NULL;
        int error = 0;

        samples->before_ns = INT64_MIN;
        if (define_visit(&reading, true) != SQLITE_OK ||
            prepare(samples, &rows) != SQLITE_OK || sqlite3_step(rows) != SQLITE_DONE)
                error =
                    reading.error ? reading.error : db_error(samples->db, "read", diag);
        sqlite3_finalize(rows);
        if (define_visit(&reading, false) != SQLITE_OK && !error)
                error = db_error(samples->db, "read", diag);
        return error;
}
