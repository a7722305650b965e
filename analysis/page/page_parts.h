/* SPDX-License-Identifier: MIT */
/* The parts of the page's data that page.c assembles. */
#ifndef MEMLAG_PAGE_PARTS_H
#define MEMLAG_PAGE_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "report.h"

/* Equal time spans for the page's filter; each begins with an interval of the recording.
 */
struct page_grid {
        int64_t from_ns;
        int64_t span_ns;
        int64_t count;
};

/* Creates the temporary tables of the page's data. page_cube: sums over the samples by
 * span, location, object, field, call path, thread, and part of the causes (of
 * temp.sample_part, which may be missing). page_location and page_path: map
 * these keys to findings. page_line, page_function, page_object, page_type and
 * page_caller: the findings that fit the page. page_file: their source files.
 * page_counter: the meaning of counters. */
int page_samples_prepare(struct db *db, struct page_grid *grid, struct diag *diag);

/* Creates page_calling, the lines whose calls cost most, and page_calling_cell, what the
 * samples below them cost by span of GRID; adds their files to page_file. After
 * page_samples_prepare. */
int page_calls_prepare(struct db *db, const struct page_grid *grid, struct diag *diag);

/* Writes the rows of SQL as a JSON object: column names, and rows as arrays. */
int page_table_write(struct db *db, const char *sql, FILE *out, struct diag *diag);

enum page_kind { PAGE_REPORT, PAGE_DIFF };

/* Writes a page's data, one JSON value, to OUT; returns 0 or a negative errno value. */
typedef int page_data_writer(const void *context, FILE *out, struct diag *diag);

/* Writes a page of KIND. WRITE writes its data with CONTEXT; the data is escaped, and
 * cannot end a script element. */
int page_assemble(enum page_kind kind, page_data_writer *write, const void *context,
                  FILE *out, struct diag *diag);

#endif
