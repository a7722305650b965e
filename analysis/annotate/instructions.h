/* SPDX-License-Identifier: MIT */
/* The machine code of the chosen places. */
#ifndef MEMLAG_ANNOTATE_INSTRUCTIONS_H
#define MEMLAG_ANNOTATE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "db.h"
#include "disassembly.h"

/* Creates the temporary table annotated_code: the instruction at each location of
 * annotated_row. The file must be the recorded one, at the path that symbolize found.
 * With NEIGHBOURS, annotated_neighbour gets two instructions before and after each
 * sampled instruction of a function. NOTES gets a sentence per line about unusable files.
 */
int instructions_read(struct db *db, enum disassembly_style style, bool neighbours,
                      FILE *notes, struct diag *diag);

#endif
