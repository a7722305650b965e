/* SPDX-License-Identifier: MIT */
/* Groups rows of integers for tables with many inserts. SQLite then has its fixed cost
 * once per group instead of once per row. A batch writes its groups before it commits:
 * until then a row may refer to a row that still waits. */
#ifndef ROW_GROUP_H
#define ROW_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"

enum { GROUP_ROWS = 64, GROUP_COLUMNS = 10 };

/* The parameters of the row in an INSERT, for as many rows as a group has. */
#define GROUP_FOUR(rows) rows ", " rows ", " rows ", " rows
#define GROUP_OF(row)    GROUP_FOUR(GROUP_FOUR(GROUP_FOUR(row)))

/* A column's value; NULL unless it is known. */
struct group_value {
        bool known;
        int64_t number;
};

struct row_group {
        struct batch *batch;
        struct row_group *next; /* of the batch's groups */
        size_t one;             /* the batch's statement that writes a row */
        size_t many;            /* statement that writes a group of rows */
        size_t columns;
        size_t rows; /* that wait */
        struct group_value values[GROUP_ROWS * GROUP_COLUMNS];
};

/* Begins an empty group of BATCH, which writes nothing after GROUP is freed. */
void row_group_open(struct row_group *group, struct batch *batch, size_t one, size_t many,
                    size_t columns);

/* Adds a row of the group's columns; writes the group when it is full. */
int row_group_add(struct row_group *group, const struct group_value *row,
                  struct diag *diag);

/* Writes the pending rows; batch_flush does. */
int row_group_write(struct row_group *group, struct diag *diag);

#endif
