/* SPDX-License-Identifier: MIT */
/* The report as a page: one self-contained HTML file with its data and libraries. */
#ifndef MEMLAG_PAGE_H
#define MEMLAG_PAGE_H

#include <stdio.h>

#include "report.h"
#include "source_file.h"

/* Writes the page of an analysed database, or of the selected part, to OUT. SEARCH finds
 * source files. Returns -ENOENT if a required library is not installed; DIAG names its
 * package. */
int page_write(struct db *db, const struct report_options *options,
               const struct report_summary *summary, const struct source_search *search,
               FILE *out, struct diag *diag);

/* Comparison of two recordings. */
struct page_diff {
        struct db *before, *after; /* analysed; the first recording of each side */
        size_t kind_count;
        struct page_diff_kind {
                const char *name; /* line, function, object, type */
                char *json;       /* output of memlag diff for the kind */
        } kinds[4];
};

/* Writes the page of DIFF to OUT; errors as in page_write. */
int page_diff_write(const struct page_diff *diff, FILE *out, struct diag *diag);

#endif
