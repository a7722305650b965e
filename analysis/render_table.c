/* SPDX-License-Identifier: MIT */
/* A table of aligned columns. The first rows decide the widths; wider cells in later rows
 * shift the rest of their line instead of losing characters. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "text.h"

enum { LAYOUT_ROWS = 1000, LAST_WIDTH_MIN = 24 };

struct table_cell {
        char *text;
        bool right;
};

struct table {
        const char *const *names;
        size_t count;
        size_t terminal_width; /* 0: none */
        size_t *widths;
        struct table_cell *rows; /* rows that precede the layout */
        size_t row_count;
        bool laid_out;
};

struct table *table_new(const char *const *names, size_t count, size_t width)
{
        struct table *table = calloc(1, sizeof(*table));
        if (!table)
                return NULL;
        table->names = names;
        table->count = count;
        table->terminal_width = width;
        table->widths = calloc(count + 1, sizeof(*table->widths));
        table->rows = calloc(LAYOUT_ROWS * (count + 1), sizeof(*table->rows));
        if (table->widths && table->rows)
                return table;
        free(table->widths);
        free(table->rows);
        free(table);
        return NULL;
}

static char *cell_text(const struct cell *cell)
{
        char *text = NULL;
        switch (cell->type) {
        case CELL_NULL:
                return strdup("NULL");
        case CELL_INTEGER:
                return asprintf(&text, "%" PRId64, cell->integer) < 0 ? NULL : text;
        case CELL_REAL:
                return asprintf(&text, "%.6g", cell->real) < 0 ? NULL : text;
        case CELL_TEXT:
                return text_printable(cell->bytes, cell->length);
        case CELL_BLOB:
                break;
        }
        text = malloc(2 * cell->length + sizeof("x''"));
        if (!text)
                return NULL;
        char *end = stpcpy(text, "x'");
        for (size_t i = 0; i < cell->length; i++)
                end += sprintf(end, "%02x", (unsigned char)cell->bytes[i]);
        strcpy(end, "'");
        return text;
}

/* Nothing follows the last column, so it needs no padding. */
static void print_padded(FILE *out, const char *text, size_t width, bool right, bool last)
{
        size_t own = text_width(text);
        int padding = own < width ? (int)(width - own) : 0;
        if (right)
                fprintf(out, "%*s", padding, "");
        fputs(text, out);
        if (!right && !last)
                fprintf(out, "%*s", padding, "");
        fputs(last ? "\n" : "  ", out);
}

/* Cuts the last column's TEXT to the remaining width of the terminal, but leaves enough
 * to recognise it. */
static void fit_last(const struct table *table, char *text)
{
        size_t room = table->terminal_width;
        for (size_t i = 0; i + 1 < table->count; i++)
                room -= room < table->widths[i] + 2 ? room : table->widths[i] + 2;
        if (room < LAST_WIDTH_MIN)
                room = LAST_WIDTH_MIN;
        if (!table->terminal_width || text_width(text) <= room)
                return;
        char *end = text;
        for (size_t width = 0; width < room - strlen("..."); width++)
                do
                        end++;
                while (((unsigned char)*end & 0xc0) == 0x80);
        strcpy(end, "...");
}

static void print_row(const struct table *table, FILE *out, struct table_cell *cells)
{
        if (table->count)
                fit_last(table, cells[table->count - 1].text);
        for (size_t i = 0; i < table->count; i++) {
                print_padded(out, cells[i].text, table->widths[i], cells[i].right,
                             i + 1 == table->count);
                free(cells[i].text);
        }
}

static void lay_out(struct table *table, FILE *out)
{
        for (size_t i = 0; i < table->count; i++) {
                table->widths[i] = text_width(table->names[i]);
                for (size_t r = 0; r < table->row_count; r++) {
                        size_t width = text_width(table->rows[r * table->count + i].text);
                        if (width > table->widths[i])
                                table->widths[i] = width;
                }
        }
        for (size_t i = 0; i < table->count; i++)
                print_padded(out, table->names[i], table->widths[i],
                             table->row_count && table->rows[i].right,
                             i + 1 == table->count);
        for (size_t r = 0; r < table->row_count; r++)
                print_row(table, out, &table->rows[r * table->count]);
        table->row_count = 0;
        table->laid_out = true;
}

int table_row(struct table *table, FILE *out, const struct cell *cells)
{
        struct table_cell *row = &table->rows[table->row_count * table->count];
        for (size_t i = 0; i < table->count; i++) {
                row[i].right = cells[i].right;
                row[i].text = cell_text(&cells[i]);
                if (row[i].text)
                        continue;
                while (i > 0)
                        free(row[--i].text);
                return -ENOMEM;
        }
        if (table->laid_out)
                print_row(table, out, row);
        else if (++table->row_count == LAYOUT_ROWS)
                lay_out(table, out);
        return 0;
}

void table_end(struct table *table, FILE *out)
{
        if (!table)
                return;
        if (!table->laid_out)
                lay_out(table, out);
        free(table->widths);
        free(table->rows);
        free(table);
}
