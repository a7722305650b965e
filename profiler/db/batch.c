/* SPDX-License-Identifier: MIT */
/* One transaction at a time, which begins with the first row. */
#include "batch.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "db_internal.h"
#include "file_limit.h"
#include "room.h"
#include "row_group.h"

enum { NS_A_COMMIT = 1000000000 };

struct batch {
        struct db *db;
        sqlite3_stmt *begin;
        sqlite3_stmt *commit;
        sqlite3_stmt **statements;
        size_t statement_count;
        struct row_group *groups;
        size_t row; /* the statement of the current row */
        struct room room;
        uint64_t rows_a_commit;
        int64_t begin_ns; /* when the open transaction began */
        uint64_t rows;    /* in the open transaction */
        bool in_transaction;
        size_t sample;    /* this statement and the next write samples */
        uint64_t samples; /* written; the next field: committed, retained after an
                             error */
        uint64_t committed_samples;
        int failure; /* 0, or the error of all later calls */
        struct diag failure_diag;
};

/* ---- transactions ---- */

/* Cheap, with a precision of a few milliseconds: it is called for every row. */
static int64_t now_ns(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int repeat_failure(const struct batch *batch, struct diag *diag)
{
        return diag_set(diag, batch->failure, "%s", batch->failure_diag.text);
}

/* SQLite keeps the file within so many bytes. The log can then always go into the file,
 * and is empty again. */
static void limit_file(struct batch *batch, uint64_t bytes)
{
        char sql[64];
        snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %" PRIu64,
                 bytes / ROOM_PAGE_BYTES);
        sqlite3_exec(batch->db->sqlite, sql, NULL, NULL, NULL);
}

/* Makes room for the last facts. */
static void free_room(struct batch *batch)
{
        room_give_up(&batch->room);
        const uint64_t limit = file_limit_bytes();
        if (limit != UINT64_MAX)
                limit_file(batch, limit);
        sqlite3_wal_checkpoint_v2(batch->db->sqlite, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                  NULL, NULL);
}

/* Gives up the open transaction. */
static int fail(struct batch *batch, struct diag *diag)
{
        struct diag cause;
        batch->failure = db_error(batch->db, "write", &cause);
        diag_set(&batch->failure_diag, 0,
                 "%.800s; %" PRIu64 " samples were written before", cause.text,
                 batch->committed_samples);
        if (!sqlite3_get_autocommit(batch->db->sqlite))
                sqlite3_exec(batch->db->sqlite, "ROLLBACK", NULL, NULL, NULL);
        batch->in_transaction = false;
        free_room(batch);
        return repeat_failure(batch, diag);
}

static int step(sqlite3_stmt *statement)
{
        sqlite3_step(statement);
        return sqlite3_reset(statement);
}

int batch_flush(struct batch *batch, struct diag *diag)
{
        if (batch->failure)
                return repeat_failure(batch, diag);
        int code = 0;
        for (struct row_group *group = batch->groups; group && !code; group = group->next)
                code = row_group_write(group, diag);
        if (code || !batch->in_transaction)
                return code;
        if (step(batch->commit))
                return fail(batch, diag);
        batch->in_transaction = false;
        batch->committed_samples = batch->samples;
        return 0;
}

static void fit_to_room(struct batch *batch)
{
        struct room_limits limits = room_look(&batch->room, batch->db->path);
        batch->rows_a_commit = limits.rows;
        sqlite3_wal_autocheckpoint(batch->db->sqlite, limits.log_pages);
}

static int begin_transaction(struct batch *batch, struct diag *diag)
{
        fit_to_room(batch);
        if (step(batch->begin))
                return fail(batch, diag);
        batch->in_transaction = true;
        batch->begin_ns = now_ns();
        batch->rows = 0;
        return 0;
}

/* ---- rows ---- */

int batch_begin_row(struct batch *batch, size_t statement, sqlite3_stmt **row,
                    struct diag *diag)
{
        if (batch->failure)
                return repeat_failure(batch, diag);
        batch->row = statement;
        *row = batch->statements[statement];
        return batch->in_transaction ? 0 : begin_transaction(batch, diag);
}

/* Counts rows of the open transaction, and commits when it is large or old enough. */
static int count_rows(struct batch *batch, uint64_t count, struct diag *diag)
{
        batch->rows += count;
        if (batch->rows >= batch->rows_a_commit ||
            now_ns() - batch->begin_ns >= NS_A_COMMIT)
                return batch_flush(batch, diag);
        return 0;
}

static int write_row(struct batch *batch, struct diag *diag)
{
        int rc = step(batch->statements[batch->row]);
        if (rc == SQLITE_CONSTRAINT || rc == SQLITE_MISMATCH)
                return db_error(batch->db, "write a row to", diag);
        return rc ? fail(batch, diag) : 0;
}

int batch_end_rows(struct batch *batch, uint64_t count, struct diag *diag)
{
        int code = write_row(batch, diag);
        return code ? code : count_rows(batch, count, diag);
}

/* A commit writes the waiting groups, so the key is read before. */
int batch_end_row(struct batch *batch, int64_t *id, struct diag *diag)
{
        int code = write_row(batch, diag);
        if (code)
                return code;
        if (id)
                *id = sqlite3_last_insert_rowid(batch->db->sqlite);
        return count_rows(batch, 1, diag);
}

/* ---- groups of rows ---- */

void batch_add_group(struct batch *batch, struct row_group *group)
{
        group->next = batch->groups;
        batch->groups = group;
}

int batch_count_row(struct batch *batch, struct diag *diag)
{
        if (batch->failure)
                return repeat_failure(batch, diag);
        int code = batch->in_transaction ? 0 : begin_transaction(batch, diag);
        return code ? code : count_rows(batch, 1, diag);
}

int batch_end_group(struct batch *batch, uint64_t count, struct diag *diag)
{
        if (step(batch->statements[batch->row]))
                return fail(batch, diag);
        if (batch->row == batch->sample || batch->row == batch->sample + 1)
                batch->samples += count;
        return 0;
}

/* ---- making and freeing ---- */

void batch_free(struct batch *batch)
{
        if (!batch)
                return;
        sqlite3_finalize(batch->begin);
        sqlite3_finalize(batch->commit);
        for (size_t i = 0; i < batch->statement_count; i++)
                sqlite3_finalize(batch->statements[i]);
        free(batch->statements);
        room_give_up(&batch->room);
        free(batch);
}

static int prepare(struct batch *batch, const char *sql, sqlite3_stmt **statement)
{
        return sqlite3_prepare_v3(batch->db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                  statement, NULL);
}

static int prepare_all(struct batch *batch, const char *const *sql, size_t count)
{
        int rc = prepare(batch, "BEGIN IMMEDIATE", &batch->begin);
        if (!rc)
                rc = prepare(batch, "COMMIT", &batch->commit);
        for (; !rc && batch->statement_count < count; batch->statement_count++)
                rc = prepare(batch, sql[batch->statement_count],
                             &batch->statements[batch->statement_count]);
        return rc;
}

int batch_open(struct db *db, const char *const *sql, size_t count, size_t sample,
               struct batch **result, struct diag *diag)
{
        *result = NULL;
        struct batch *batch = calloc(1, sizeof(*batch));
        if (!batch)
                return diag_no_memory(diag);
        batch->db = db;
        batch->sample = sample;
        room_init(&batch->room);
        batch->statements = calloc(count, sizeof(sqlite3_stmt *));
        int code = 0;
        if (!batch->statements)
                code = diag_no_memory(diag);
        else if (prepare_all(batch, sql, count))
                code = db_error(db, "write", diag);
        if (code) {
                batch_free(batch);
                return code;
        }
        const uint64_t limit = file_limit_bytes();
        if (limit != UINT64_MAX && limit > ROOM_FACTS_BYTES)
                limit_file(batch, limit - ROOM_FACTS_BYTES);
        *result = batch;
        return code;
}
