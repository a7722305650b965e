/* SPDX-License-Identifier: MIT */
/* Prints the chosen places in one of the formats. */
#ifndef MEMLAG_ANNOTATE_SHOW_H
#define MEMLAG_ANNOTATE_SHOW_H

#include <stdio.h>

#include "report.h"

/* Hot instructions: in lines with at least a tenth of their function or file, and in code
 * without a known line. */
enum show_instructions {
        SHOW_NO_INSTRUCTIONS,
        SHOW_HOT_INSTRUCTIONS,
        SHOW_ALL_INSTRUCTIONS
};

struct show_options {
        enum show_instructions instructions;
        enum format format;
        size_t width;     /* of the terminal; 0: no terminal */
        bool whole_names; /* in a table too */
};

/* NOTES: a sentence per line, printed below a table; in other formats, the caller prints
 * them. */
int show(struct db *db, const struct show_options *options,
         const struct report_summary *summary, const char *notes, FILE *out,
         struct diag *diag);

#endif
