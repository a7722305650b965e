/* SPDX-License-Identifier: MIT */
/* See diff_cells.h. */
#include "diff_cells.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct cells *row, struct cell cell)
{
        assert(row->count < CELLS_MAX);
        row->cells[row->count++] = cell;
}

void cells_put_text(struct cells *row, const char *text)
{
        put(row,
            text ? (struct cell){.type = CELL_TEXT, .bytes = text, .length = strlen(text)}
                 : (struct cell){.type = CELL_NULL});
}

void cells_put_made(struct cells *row, char *text, bool right)
{
        row->failed |= !text;
        row->made[row->count] = text;
        cells_put_text(row, text ?: "");
        row->cells[row->count - 1].right = right;
}

void cells_put_real(struct cells *row, double value)
{
        put(row, isfinite(value) ? (struct cell){.type = CELL_REAL, .real = value}
                                 : (struct cell){.type = CELL_NULL});
}

void cells_put_integer(struct cells *row, bool is_known, int64_t value)
{
        put(row, is_known ? (struct cell){.type = CELL_INTEGER, .integer = value}
                          : (struct cell){.type = CELL_NULL});
}

int cells_finish(struct render *render, struct cells *row)
{
        int code = row->failed ? -ENOMEM : render_row(render, row->cells);
        for (size_t i = 0; i < row->count; i++)
                free(row->made[i]);
        *row = (struct cells){.count = 0};
        return code;
}

char *text_of(const char *format, ...)
{
        char *text = NULL;
        va_list arguments;
        va_start(arguments, format);
        int length = vasprintf(&text, format, arguments);
        va_end(arguments);
        return length < 0 ? NULL : text;
}
