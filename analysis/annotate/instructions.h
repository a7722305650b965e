/* SPDX-License-Identifier: MIT */
/* The machine code at the chosen places. */
#ifndef MEMLAG_ANNOTATE_INSTRUCTIONS_H
#define MEMLAG_ANNOTATE_INSTRUCTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "db.h"
#include "disassembly.h"

/* Makes the temporary table annotated_code: the instruction at each location of
 * annotated_row whose file is the one that was recorded, and is where symbolize found it.
 * With NEIGHBOURS annotated_neighbour has the two before and the two behind each, of the
 * same function. NOTES gets a sentence a line on files that are not. */
int instructions_read(struct db *db, enum disassembly_style style, bool neighbours,
                      FILE *notes, struct diag *diag);

#endif
