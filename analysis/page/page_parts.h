/* SPDX-License-Identifier: MIT */
/* What page.c puts together: the parts of the page's data. */
#ifndef MEMLAG_PAGE_PARTS_H
#define MEMLAG_PAGE_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "report.h"
#include "source_file.h"

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

/* Writes the data as one JSON object, in which no character ends or escapes a script
 * element. */
int page_data_write(struct db *db, const struct report_options *options,
                    const struct report_summary *summary,
                    const struct source_search *search, FILE *out, struct diag *diag);

#endif
