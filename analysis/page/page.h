/* SPDX-License-Identifier: MIT */
/* The report as a page: one HTML file with its data, its libraries and nothing from
 * elsewhere. */
#ifndef MEMLAG_PAGE_H
#define MEMLAG_PAGE_H

#include <stdio.h>

#include "report.h"
#include "source_file.h"

/* Writes the page on an analysed database, or on the part of it that is selected, to OUT.
 * SEARCH tells where source files are. -ENOENT: a library that the page is made with is
 * not installed; DIAG names its package. */
int page_write(struct db *db, const struct report_options *options,
               const struct report_summary *summary, const struct source_search *search,
               FILE *out, struct diag *diag);

/* Two recordings beside each other. */
struct page_diff {
        struct db *before, *after; /* analysed; of several of a side the first */
        size_t kind_count;
        struct page_diff_kind {
                const char *name; /* line, function, object, type */
                char *json;       /* the whole output of memlag diff for it */
        } kinds[4];
};

/* Writes the page on DIFF to OUT; errors as those of page_write. */
int page_diff_write(const struct page_diff *diff, FILE *out, struct diag *diag);

#endif
