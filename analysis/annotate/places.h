/* SPDX-License-Identifier: MIT */
/* The places in code that were chosen, with what samples say of each: temporary tables of
 * the connection, so that the recording stays as it is. */
#ifndef MEMLAG_ANNOTATE_PLACES_H
#define MEMLAG_ANNOTATE_PLACES_H

#include "db.h"

/* annotated_sample: sums over the memory samples, those of the findings, by location,
 * object and field.
 * annotated_frame: functions at each of these locations: that of the line (depth 0), and
 * those into which it was inlined, each with its own line there.
 * annotated_block: what was chosen: functions, and files or lines of them; choice.c fills
 * it. */
int places_prepare(struct db *db, struct diag *diag);

/* annotated_row: what there is to show of each block. A row of level 0 is a line of code
 * as findings have it, or as much of one as was inlined at FILE:LINE of the block; level
 * 1 is an instruction of it, level 2 what an instruction accesses. Figures of each level
 * add up to those of the block's samples. */
int places_find(struct db *db, struct diag *diag);

#endif
