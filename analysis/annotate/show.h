/* SPDX-License-Identifier: MIT */
/* What was found for the chosen places, in one of the formats. */
#ifndef MEMLAG_ANNOTATE_SHOW_H
#define MEMLAG_ANNOTATE_SHOW_H

#include <stdio.h>

#include "report.h"

/* Those below lines with at least a tenth of what their function or file has, and of
 * lines that are not known; or of all lines. */
enum show_instructions {
        SHOW_NO_INSTRUCTIONS,
        SHOW_HOT_INSTRUCTIONS,
        SHOW_ALL_INSTRUCTIONS
};

struct show_options {
        enum show_instructions instructions;
        enum format format;
        size_t width;     /* of the terminal; 0: none */
        bool whole_names; /* in a table too */
};

/* NOTES: a sentence a line, which end a table; other formats leave them to the caller. */
int show(struct db *db, const struct show_options *options,
         const struct report_summary *summary, const char *notes, FILE *out,
         struct diag *diag);

#endif
