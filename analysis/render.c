/* SPDX-License-Identifier: MIT */
/* Renders one result in one of the formats; render_*.c hold the formats. */
#include "render.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct render {
        enum format format;
        FILE *out;
        const char *const *names;
        size_t count;
        bool any_row;
        struct table *table;
};

bool format_named(const char *name, enum format *format)
{
        static const char *const names[] = {"table", "csv", "json"};
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(names[i], name) == 0) {
                        *format = (enum format)i;
                        return true;
                }
        return false;
}

struct cell cell_of_column(struct sqlite3_stmt *statement, int i)
{
        struct cell cell = {0};
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER:
                cell.type = CELL_INTEGER;
                cell.integer = sqlite3_column_int64(statement, i);
                break;
        case SQLITE_FLOAT:
                cell.type = CELL_REAL;
                cell.real = sqlite3_column_double(statement, i);
                break;
        case SQLITE_TEXT:
                cell.type = CELL_TEXT;
                cell.bytes = (const char *)sqlite3_column_text(statement, i);
                break;
        case SQLITE_BLOB:
                cell.type = CELL_BLOB;
                cell.bytes = sqlite3_column_blob(statement, i);
                break;
        default:
                break;
        }
        if (cell.type == CELL_TEXT || cell.type == CELL_BLOB)
                cell.length = (size_t)sqlite3_column_bytes(statement, i);
        cell.right = cell.type == CELL_INTEGER || cell.type == CELL_REAL;
        return cell;
}

struct cell cell_of_name(struct sqlite3_stmt *statement, int i)
{
        struct cell cell = cell_of_column(statement, i);
        if (cell.length > TEXT_SHOWN_BYTES)
                cell.length = TEXT_SHOWN_BYTES;
        return cell;
}

struct render *render_begin(enum format format, FILE *out, const char *const *names,
                            size_t count, size_t width)
{
        struct render *render = calloc(1, sizeof(*render));
        if (!render)
                return NULL;
        *render =
            (struct render){.format = format, .out = out, .names = names, .count = count};
        if (format == FORMAT_TABLE && !(render->table = table_new(names, count, width))) {
                free(render);
                return NULL;
        }
        if (format == FORMAT_CSV)
                csv_header(out, names, count);
        return render;
}

void render_shorten_names(struct render *render)
{
        if (render->table)
                table_shorten_names(render->table);
}

static void json_row(struct render *render, const struct cell *cells)
{
        fputs(render->any_row ? ",\n {" : "[\n {", render->out);
        for (size_t i = 0; i < render->count; i++) {
                if (i)
                        fputs(", ", render->out);
                render_json_text(render->out, render->names[i], strlen(render->names[i]));
                fputs(": ", render->out);
                render_json_cell(render->out, &cells[i]);
        }
        putc('}', render->out);
}

int render_row(struct render *render, const struct cell *cells)
{
        int code = 0;
        switch (render->format) {
        case FORMAT_TABLE:
                code = table_row(render->table, render->out, cells);
                break;
        case FORMAT_CSV:
                csv_row(render->out, cells, render->count);
                break;
        case FORMAT_JSON:
                json_row(render, cells);
                break;
        }
        render->any_row = true;
        return code;
}

void render_end(struct render *render)
{
        if (!render)
                return;
        if (render->format == FORMAT_TABLE)
                table_end(render->table, render->out);
        if (render->format == FORMAT_JSON)
                fputs(render->any_row ? "\n]" : "[]", render->out);
        free(render);
}
