/* SPDX-License-Identifier: MIT */
/* Renders result rows as a table for people, CSV or JSON. */
#ifndef MEMLAG_RENDER_H
#define MEMLAG_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

/* Finds the format called NAME; false: no such format. */
bool format_named(const char *name, enum format *format);

enum cell_type { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

struct cell {
        enum cell_type type;
        int64_t integer;
        double real;
        const char *bytes; /* of a text (arbitrary bytes) or blob */
        size_t length;
        bool right; /* alignment in a table */
};

struct sqlite3_stmt;

/* Column I of STATEMENT's current row; valid until the next sqlite3_step. */
struct cell cell_of_column(struct sqlite3_stmt *statement, int i);

/* Like cell_of_column for names or short texts: at most their first 16 KiB. No real name
 * is longer, but the database may be malicious. */
struct cell cell_of_name(struct sqlite3_stmt *statement, int i);

/* The rows of one result. The first rows decide a table's layout, and are printed after
 * it; other formats print immediately. */
struct render;

/* Begins a result with COUNT columns (0 is allowed) called NAMES, which must live until
 * render_end. A table cuts texts to fit WIDTH columns, if it can; 0: no cut. NULL
 * without memory. */
struct render *render_begin(enum format format, FILE *out, const char *const *names,
                            size_t count, size_t width);

/* Before the first row: names in a table's columns of text lose template arguments until
 * they fit beside numbers. Different names get different forms where they
 * can. */
void render_shorten_names(struct render *render);

/* Returns 0 or -ENOMEM. */
int render_row(struct render *render, const struct cell *cells);

/* Completes the result and frees RENDER (NULL is allowed). A JSON array ends without a
 * newline: it may be part of a larger value. */
void render_end(struct render *render);

/* Writes BYTES as a JSON string; bytes that are not UTF-8 become U+FFFD. */
void render_json_text(FILE *out, const char *bytes, size_t length);

/* Writes a cell as a JSON value: blobs as hexadecimal strings. */
void render_json_cell(FILE *out, const struct cell *cell);

/* ---- one file per format, called by render.c ---- */

void csv_header(FILE *out, const char *const *names, size_t count);
void csv_row(FILE *out, const struct cell *cells, size_t count);

struct table;
struct table *table_new(const char *const *names, size_t count, size_t width);
void table_shorten_names(struct table *table);
int table_row(struct table *table, FILE *out, const struct cell *cells);
void table_end(struct table *table, FILE *out);

#endif
