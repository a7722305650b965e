/* SPDX-License-Identifier: MIT */
/* Reads many rows of a query, and writes many rows into one table. A statement that
 * inserts several rows costs SQLite much less than one statement for each. Knows no
 * meaning of rows. */
#ifndef MEMLAG_SYMBOLIZE_BULK_INSERT_H
#define MEMLAG_SYMBOLIZE_BULK_INSERT_H

#include <stdbool.h>
#include <stdint.h>

#include "db.h"

struct sqlite3_stmt;

/* Takes a row; a value other than 0 ends the reading, and is its result. */
typedef int take_row(void *context, struct sqlite3_stmt *row);

/* Calls TAKE for each row of SQL. 0, TAKE's value or a negative errno value. */
int select_rows(struct db *db, const char *sql, take_row *take, void *context,
                struct diag *diag);

/* Whether SQL has a row: 1, 0 or a negative errno value. */
int select_any(struct db *db, const char *sql, struct diag *diag);

struct bulk_value {
        const char *text; /* NULL: the number */
        int64_t number;
        bool set;
};

struct bulk_insert {
        struct db *db;
        struct diag *diag;
        const char *table;
        const char *columns; /* as in SQL */
        int column_count;
        int row_count; /* that wait, without the one in work */
        struct bulk_value *values;
        struct sqlite3_stmt *batch;
        int error; /* the first; later rows are ignored */
};

/* Begins to fill the COLUMNS, separated by commas, of TABLE; both texts must stay. The
 * caller closes INSERT in any case. */
void bulk_insert_open(struct bulk_insert *insert, const char *table, const char *columns,
                      struct db *db, struct diag *diag);
/* Sets column number COLUMN, from 0 on, of the current row. Columns that are not set are
 * NULL. TEXT must stay until the close; a NULL text leaves the column as it is. */
void bulk_insert_int(struct bulk_insert *insert, int column, int64_t value);
void bulk_insert_text(struct bulk_insert *insert, int column, const char *text);
/* The same, but VALUE 0 leaves the column as it is. */
void bulk_insert_nonzero(struct bulk_insert *insert, int column, uint64_t value);
/* Ends the row. 0 or a negative errno value, which the close gives too. */
int bulk_insert_row(struct bulk_insert *insert);
/* After the last row, when there was no ERROR, writes the remaining rows. Frees in any
 * case. ERROR, or 0, or a negative errno value. */
int bulk_insert_close(struct bulk_insert *insert, int error);

/* Sets the columns of row number I and returns true, or returns false for no row. */
typedef bool bulk_row(void *context, struct bulk_insert *insert, size_t i);
struct bulk_table {
        const char *table, *columns;
        bulk_row *row;
        size_t count;
};

/* Fills COUNT TABLES one after the other. Calls the table's function with CONTEXT for
 * each row number below the table's count. 0 or a negative errno value. */
int bulk_insert_tables(const struct bulk_table *tables, size_t count, void *context,
                       struct db *db, struct diag *diag);

#endif
