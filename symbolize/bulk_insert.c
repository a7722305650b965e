/* SPDX-License-Identifier: MIT */
/* One statement, prepared once, inserts full batches; another one inserts the rest. */
#include "bulk_insert.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_ROWS = 128 };

int select_rows(struct db *db, const char *sql, take_row *take, void *context,
                struct diag *diag)
{
        sqlite3_stmt *row;
        int result = 0, rc = sqlite3_prepare_v2(db_sqlite(db), sql, -1, &row, NULL);

        while (!result && (rc == SQLITE_OK || rc == SQLITE_ROW)) {
                rc = sqlite3_step(row);
                if (rc == SQLITE_ROW)
                        result = take(context, row);
        }
        if (!result && rc != SQLITE_DONE)
                result = db_error(db, "read", diag);
        sqlite3_finalize(row);
        return result;
}

static int is_there(void *context, sqlite3_stmt *row)
{
        (void)context;
        (void)row;
        return 1;
}

int select_any(struct db *db, const char *sql, struct diag *diag)
{
        return select_rows(db, sql, is_there, NULL, diag);
}

/* Prepares a statement for ROW_COUNT rows. An error rolls back the whole transaction.
 * Therefore SQLite need not keep the journal by which it could undo one statement. */
static int prepare(struct bulk_insert *insert, int row_count, sqlite3_stmt **rows)
{
        sqlite3_str *sql = sqlite3_str_new(db_sqlite(insert->db));

        sqlite3_str_appendf(sql, "INSERT OR FAIL INTO %s (%s) VALUES ", insert->table,
                            insert->columns);
        for (int row = 0; row < row_count; row++)
                for (int i = 0; i < insert->column_count; i++)
                        sqlite3_str_appendall(sql, i > 0     ? ", ?"
                                                   : row > 0 ? "), (?"
                                                             : "(?");
        sqlite3_str_appendall(sql, ")");
        char *text = sqlite3_str_finish(sql);

        if (!text)
                return diag_no_memory(insert->diag);
        int rc = sqlite3_prepare_v2(db_sqlite(insert->db), text, -1, rows, NULL);

        sqlite3_free(text);
        return rc == SQLITE_OK ? 0 : db_error(insert->db, "write", insert->diag);
}

void bulk_insert_open(struct bulk_insert *insert, const char *table, const char *columns,
                      struct db *db, struct diag *diag)
{
        *insert = (struct bulk_insert){.db = db,
                                       .diag = diag,
                                       .table = table,
                                       .columns = columns,
                                       .column_count = 1};
        while ((columns = strchr(columns, ',')) != NULL) {
                insert->column_count++;
                columns++;
        }
        insert->values =
            calloc((size_t)(BATCH_ROWS * insert->column_count), sizeof(*insert->values));
        insert->error = insert->values ? prepare(insert, BATCH_ROWS, &insert->batch)
                                       : diag_no_memory(diag);
}

static struct bulk_value *value_at(const struct bulk_insert *insert, int column)
{
        return &insert->values[insert->row_count * insert->column_count + column];
}

void bulk_insert_int(struct bulk_insert *insert, int column, int64_t value)
{
        if (!insert->error)
                *value_at(insert, column) =
                    (struct bulk_value){.number = value, .set = true};
}

void bulk_insert_nonzero(struct bulk_insert *insert, int column, uint64_t value)
{
        if (value != 0)
                bulk_insert_int(insert, column, (int64_t)value);
}

void bulk_insert_text(struct bulk_insert *insert, int column, const char *text)
{
        if (text && !insert->error)
                *value_at(insert, column) =
                    (struct bulk_value){.text = text, .set = true};
}

/* Writes the waiting rows with ROWS, a statement for that number of rows. */
static int write_rows(struct bulk_insert *insert, sqlite3_stmt *rows)
{
        int count = insert->row_count * insert->column_count, rc = SQLITE_OK;

        for (int i = 0; i < count && rc == SQLITE_OK; i++) {
                const struct bulk_value *value = &insert->values[i];

                rc = !value->set ? sqlite3_bind_null(rows, i + 1)
                     : value->text
                         ? sqlite3_bind_text(rows, i + 1, value->text, -1, SQLITE_STATIC)
                         : sqlite3_bind_int64(rows, i + 1, value->number);
        }
        if (rc != SQLITE_OK || sqlite3_step(rows) != SQLITE_DONE)
                return db_error(insert->db, "write", insert->diag);
        sqlite3_reset(rows);
        memset(insert->values, 0, (size_t)count * sizeof(*insert->values));
        insert->row_count = 0;
        return 0;
}

int bulk_insert_row(struct bulk_insert *insert)
{
        if (!insert->error && ++insert->row_count == BATCH_ROWS)
                insert->error = write_rows(insert, insert->batch);
        return insert->error;
}

int bulk_insert_close(struct bulk_insert *insert, int error)
{
        sqlite3_stmt *rest = NULL;

        if (!error)
                error = insert->error;
        if (!error && insert->row_count > 0) {
                error = prepare(insert, insert->row_count, &rest);
                if (!error)
                        error = write_rows(insert, rest);
        }
        sqlite3_finalize(rest);
        sqlite3_finalize(insert->batch);
        free(insert->values);
        *insert = (struct bulk_insert){0};
        return error;
}

static int fill(const struct bulk_table *table, void *context, struct db *db,
                struct diag *diag)
{
        struct bulk_insert insert;

        bulk_insert_open(&insert, table->table, table->columns, db, diag);
        for (size_t i = 0; i < table->count && !insert.error; i++)
                if (table->row(context, &insert, i))
                        bulk_insert_row(&insert);
                else if (!insert.error)
                        memset(value_at(&insert, 0), 0,
                               (size_t)insert.column_count * sizeof(*insert.values));
        return bulk_insert_close(&insert, 0);
}

int bulk_insert_tables(const struct bulk_table *tables, size_t count, void *context,
                       struct db *db, struct diag *diag)
{
        int error = 0;

        for (size_t i = 0; i < count && !error; i++)
                error = fill(&tables[i], context, db, diag);
        return error;
}
