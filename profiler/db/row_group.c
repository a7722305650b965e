/* SPDX-License-Identifier: MIT */
/* A full group is one statement; remaining rows are written one by one. */
#include "row_group.h"

#include <sqlite3.h>
#include <string.h>

void row_group_open(struct row_group *group, struct batch *batch, size_t one, size_t many,
                    size_t columns)
{
        group->batch = batch;
        group->one = one;
        group->many = many;
        group->columns = columns;
        group->rows = 0;
        batch_add_group(batch, group);
}

static void bind(sqlite3_stmt *statement, const struct group_value *values, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                int parameter = (int)i + 1;
                if (values[i].known)
                        sqlite3_bind_int64(statement, parameter, values[i].number);
                else
                        sqlite3_bind_null(statement, parameter);
        }
}

static int write_rows(struct row_group *group, size_t index, size_t first, size_t rows,
                      struct diag *diag)
{
        sqlite3_stmt *statement;
        int code = batch_begin_row(group->batch, index, &statement, diag);
        if (code)
                return code;
        bind(statement, group->values + first * group->columns, rows * group->columns);
        return batch_end_group(group->batch, rows, diag);
}

int row_group_write(struct row_group *group, struct diag *diag)
{
        size_t rows = group->rows;
        int code = 0;
        group->rows = 0;
        if (rows == GROUP_ROWS)
                return write_rows(group, group->many, 0, rows, diag);
        for (size_t i = 0; !code && i < rows; i++)
                code = write_rows(group, group->one, i, 1, diag);
        return code;
}

int row_group_add(struct row_group *group, const struct group_value *row,
                  struct diag *diag)
{
        memcpy(group->values + group->rows * group->columns, row,
               group->columns * sizeof(*row));
        int code = ++group->rows == GROUP_ROWS ? row_group_write(group, diag) : 0;
        return code ? code : batch_count_row(group->batch, diag);
}
