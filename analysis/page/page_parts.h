/* SPDX-License-Identifier: MIT */
/* What page.c puts together: the parts of the page's data. */
#ifndef MEMLAG_PAGE_PARTS_H
#define MEMLAG_PAGE_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "report.h"

/* Equal spans of time, which the page's filter chooses from: each begins where an
 * interval of the recording does. */
struct page_grid {
        int64_t from_ns;
        int64_t span_ns;
        int64_t count;
};

/* Makes the temporary tables that the page's data are selected from:
 * page_cube, sums over the samples by span, location, object, field, path of calls and
 * thread; page_location and page_path, which lead from these to findings; page_line,
 * page_function, page_object, page_type and page_caller, the findings that the page has
 * room for; page_file, their source files, and page_counter, what counters count. */
int page_samples_prepare(struct db *db, struct page_grid *grid, struct diag *diag);

/* Writes the rows of SQL as a JSON object of the columns' names and the rows, which are
 * arrays. */
int page_table_write(struct db *db, const char *sql, FILE *out, struct diag *diag);

enum page_kind { PAGE_REPORT, PAGE_DIFF };

/* Writes a page's data, one value of JSON, to OUT: 0 or a negative errno value. */
typedef int page_data_writer(const void *context, FILE *out, struct diag *diag);

/* Writes a page of KIND with the data that WRITE writes with CONTEXT, in which no
 * character ends or escapes a script element. */
int page_assemble(enum page_kind kind, page_data_writer *write, const void *context,
                  FILE *out, struct diag *diag);

#endif
