/* SPDX-License-Identifier: MIT */
/* The chosen places in code, with their samples. Uses temporary tables of the connection:
 * the recording stays unchanged. */
#ifndef MEMLAG_MARKED_PLACES_H
#define MEMLAG_MARKED_PLACES_H

#include "db.h"

/* Creates three temporary tables. annotated_sample: sums over the memory samples of
 * findings, by location, object and field. annotated_frame: the functions at each
 * location, depth 0 for the line's own function, then the functions that it was inlined
 * into, each with its line. annotated_block: the choice, as functions, files or line
 * ranges; choice.c fills it. */
int places_prepare(struct db *db, struct diag *diag);

/* Creates annotated_row, the rows of each block. Level 0: a line of code as in findings,
 * or its part inlined at FILE:LINE of the block. Level 1: an instruction of the line.
 * Level 2: an accessed object or field of the instruction. The numbers of each level add
 * up to the block's samples. */
int places_find(struct db *db, struct diag *diag);

#endif
