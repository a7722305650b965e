/* SPDX-License-Identifier: MIT */
/* The text of the displayed source lines. */
#ifndef MEMLAG_SOURCE_LINES_H
#define MEMLAG_SOURCE_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "source_file.h"

/* Creates two temporary tables. annotated_wanted: the displayed lines of each block, that
 * is lines with samples and CONTEXT lines around them, or the requested range.
 * annotated_text: their text from the files that SEARCH finds. NOTES gets a sentence per
 * line about files that are missing or newer than the recording. */
int source_lines_read(struct db *db, const struct source_search *search, int64_t context,
                      FILE *notes, struct diag *diag);

/* source_lines_read in two parts, for a caller that fills annotated_wanted. Its rows are
 * line ranges of a file, with the module and the last line with samples (both may be
 * NULL). */
int source_lines_prepare(struct db *db, struct diag *diag);
int source_lines_read_wanted(struct db *db, const struct source_search *search,
                             FILE *notes, struct diag *diag);

#endif
