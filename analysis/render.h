/* SPDX-License-Identifier: MIT */
/* Rows of results as a table for people, CSV or JSON. */
#ifndef MEMLAG_RENDER_H
#define MEMLAG_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

/* The format called NAME; false when there is none. */
bool format_named(const char *name, enum format *format);

enum cell_type { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

struct cell {
        enum cell_type type;
        int64_t integer;
        double real;
        const char *bytes; /* of a text (any bytes) or blob */
        size_t length;
        bool right; /* how a table aligns it */
};

struct sqlite3_stmt;

/* Column I of the row at which STATEMENT stands; valid until the next step. */
struct cell cell_of_column(struct sqlite3_stmt *statement, int i);

/* The same of what is a name, or of some words: no more than the first 16 KiB of it, which
 * none has; a database may come from anybody. */
struct cell cell_of_name(struct sqlite3_stmt *statement, int i);

/* The rows of one result. A table is laid out by its first rows and printed when
 * those have come; the other formats print at once. */
struct render;

/* Begins a result with COUNT columns called NAMES, which live until the end.
 * COUNT may be 0. WIDTH is that of the terminal, to which a table cuts its last
 * column; 0: never. NULL without memory. */
struct render *render_begin(enum format format, FILE *out, const char *const *names,
                            size_t count, size_t width);

/* 0 or -ENOMEM. */
int render_row(struct render *render, const struct cell *cells);

/* Completes the result and frees RENDER (NULL is allowed). A JSON array ends
 * without a newline, because it may be part of a larger value. */
void render_end(struct render *render);

/* Writes BYTES as a JSON string; what is not UTF-8 becomes U+FFFD. */
void render_json_text(FILE *out, const char *bytes, size_t length);

/* Writes a cell as a JSON value: blobs as hexadecimal strings. */
void render_json_cell(FILE *out, const struct cell *cell);

/* ---- one file a format: render.c calls these ---- */

void csv_header(FILE *out, const char *const *names, size_t count);
void csv_row(FILE *out, const struct cell *cells, size_t count);

struct table;
struct table *table_new(const char *const *names, size_t count, size_t width);
int table_row(struct table *table, FILE *out, const struct cell *cells);
void table_end(struct table *table, FILE *out);

#endif
