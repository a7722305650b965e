/* SPDX-License-Identifier: MIT */
/* A table of aligned columns. The first rows decide the widths. If the table is too wide,
 * its columns of text lose the middle of long texts. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "short_name.h"
#include "text.h"

/* Verdicts stay whole. Names of NAME_BYTES fit a line beside the numbers. */
enum { LAYOUT_ROWS = 1000, TEXT_WIDTH_MIN = 16, LAST_WIDTH_MIN = 20, NAME_BYTES = 60 };

struct table_cell {
        char *text;
        bool right;
};

struct table {
        const char *const *names;
        size_t count;
        size_t most; /* the greatest width of all columns; 0: any */
        size_t *widths;
        struct table_cell *rows; /* rows that precede the layout */
        size_t row_count;
        bool laid_out;
        bool short_names;
};

struct table *table_new(const char *const *names, size_t count, size_t width)
{
        struct table *table = calloc(1, sizeof(*table));
        if (!table)
                return NULL;
        table->names = names;
        table->count = count;
        table->most = width;
        table->widths = calloc(count + 1, sizeof(*table->widths));
        table->rows = calloc(LAYOUT_ROWS * (count + 1), sizeof(*table->rows));
        if (table->widths && table->rows)
                return table;
        free(table->widths);
        free(table->rows);
        free(table);
        return NULL;
}

void table_shorten_names(struct table *table)
{
        table->short_names = true;
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

/* The byte of TEXT at which character NUMBER begins. */
static char *character_at(char *text, size_t number)
{
        for (; number > 0 && *text; number--)
                do
                        text++;
                while (((unsigned char)*text & 0xc0) == 0x80);
        return text;
}

/* Cuts the middle of TEXT, so that it has WIDTH columns: names differ at both ends. A
 * column that is narrower than the mark of the cut leaves it whole. */
static void fit(char *text, size_t width)
{
        const size_t own = text_width(text);
        if (own <= width || width < strlen("..."))
                return;
        const size_t kept = width - strlen("...");
        char *cut = character_at(text, (kept + 1) / 2);
        const char *end = character_at(text, own - kept / 2);
        /* The cut characters have at least three bytes. */
        memcpy(cut, "...", strlen("..."));
        memmove(cut + strlen("..."), end, strlen(end) + 1);
}

/* Columns of numbers, aligned right, are never cut. */
static void print_row(const struct table *table, FILE *out, struct table_cell *cells)
{
        for (size_t i = 0; i < table->count; i++) {
                if (table->most && !cells[i].right)
                        fit(cells[i].text, table->widths[i]);
                print_padded(out, cells[i].text, table->widths[i], cells[i].right,
                             i + 1 == table->count);
                free(cells[i].text);
        }
}

static size_t sum_of_widths(const struct table *table)
{
        size_t sum = table->count ? 2 * (table->count - 1) : 0;
        for (size_t i = 0; i < table->count; i++)
                sum += table->widths[i];
        return sum;
}

/* The column of text to make narrower next; table->count: none. The last one, of names,
 * may be wider than the others. */
static size_t widest_text(const struct table *table)
{
        size_t widest = table->count, most = TEXT_WIDTH_MIN;
        for (size_t i = 0; i < table->count; i++) {
                size_t width = table->widths[i];
                if (i + 1 == table->count)
                        width = width * TEXT_WIDTH_MIN / LAST_WIDTH_MIN;
                if (!table->rows[i].right && width > most) {
                        widest = i;
                        most = width;
                }
        }
        return widest;
}

/* Makes columns of text narrower until the table fits, if it can. */
static void narrow(struct table *table)
{
        size_t sum = sum_of_widths(table), at;
        while (table->most && table->row_count && sum > table->most &&
               (at = widest_text(table)) < table->count) {
                table->widths[at]--;
                sum--;
        }
}

/* ---- long names ---- */

/* A name in a cell, and its form without the long parts. */
struct long_name {
        char **cell;
        char *whole;
        char *shorter;
};

static int by_shorter(const void *left, const void *right)
{
        const struct long_name *a = left, *b = right;
        int order = strcmp(a->shorter, b->shorter);
        return order ? order : strcmp(a->whole, b->whole);
}

/* A copy of NAME that is shorter if NAME is long, and unlike the one of OTHER (may be
 * NULL). NULL without memory. */
static char *shortened(const char *name, const char *other)
{
        size_t length = strlen(name);
        char *text = other ? short_name_unlike(name, &length, other, strlen(other))
                           : short_name(name, &length, NAME_BYTES);
        char *ended = text ? strndup(text, length) : NULL;
        free(text);
        return ended;
}

/* The long names of the rows before the layout; returns how many. */
static size_t find_long_names(const struct table *table, struct long_name *names)
{
        size_t count = 0;
        for (size_t i = 0; i < table->row_count * table->count; i++) {
                char **cell = &table->rows[i].text;
                char *shorter =
                    strlen(*cell) > NAME_BYTES ? shortened(*cell, NULL) : NULL;
                if (shorter)
                        names[count++] = (struct long_name){cell, *cell, shorter};
        }
        qsort(names, count, sizeof(*names), by_shorter);
        return count;
}

/* Puts the COUNT names that have one shorter form into their cells. */
static void put_shorter(struct long_name *names, size_t count)
{
        const char *first = names[0].whole, *last = names[count - 1].whole;
        const bool alike = strcmp(first, last) != 0;
        for (size_t i = 0; i < count; i++) {
                const char *other = strcmp(names[i].whole, first) != 0 ? first : last;
                char *unlike = alike ? shortened(names[i].whole, other) : NULL;
                *names[i].cell = unlike ? unlike : names[i].shorter;
                if (unlike)
                        free(names[i].shorter);
        }
        /* Only now, because they were compared. */
        for (size_t i = 0; i < count; i++)
                free(names[i].whole);
}

/* A name of a later row. */
static void shorten(char **name)
{
        char *shorter = strlen(*name) > NAME_BYTES ? shortened(*name, NULL) : NULL;
        if (!shorter)
                return;
        free(*name);
        *name = shorter;
}

/* Without memory names stay whole. */
static void shorten_rows(const struct table *table)
{
        struct long_name *names =
            calloc(table->row_count * table->count + 1, sizeof(*names));
        size_t count = names ? find_long_names(table, names) : 0;
        for (size_t i = 0, next; i < count; i = next) {
                for (next = i + 1; next < count; next++)
                        if (strcmp(names[next].shorter, names[i].shorter) != 0)
                                break;
                put_shorter(&names[i], next - i);
        }
        free(names);
}

static void lay_out(struct table *table, FILE *out)
{
        if (table->short_names)
                shorten_rows(table);
        for (size_t i = 0; i < table->count; i++) {
                table->widths[i] = text_width(table->names[i]);
                for (size_t r = 0; r < table->row_count; r++) {
                        size_t width = text_width(table->rows[r * table->count + i].text);
                        if (width > table->widths[i])
                                table->widths[i] = width;
                }
        }
        narrow(table);
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
        for (size_t i = 0; table->laid_out && table->short_names && i < table->count; i++)
                shorten(&row[i].text);
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
