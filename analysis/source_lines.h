/* SPDX-License-Identifier: MIT */
/* The text of the source lines that are shown. */
#ifndef MEMLAG_SOURCE_LINES_H
#define MEMLAG_SOURCE_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "db.h"
#include "source_file.h"

/* Makes the temporary tables annotated_wanted, of the lines of each block that are shown
 * (those with samples and CONTEXT lines around each, or the range that was asked for),
 * and annotated_text, of what stands there in the files that SEARCH finds. NOTES gets a
 * sentence a line on what there is to know: files that are missing, or newer than what
 * was recorded. */
int source_lines_read(struct db *db, const struct source_search *search, int64_t context,
                      FILE *notes, struct diag *diag);

/* The same in two steps for a caller that fills annotated_wanted by itself: ranges of
 * lines of a file with the module that they are of, and the last line with samples there
 * (both may be NULL). */
int source_lines_prepare(struct db *db, struct diag *diag);
int source_lines_read_wanted(struct db *db, const struct source_search *search,
                             FILE *notes, struct diag *diag);

#endif
