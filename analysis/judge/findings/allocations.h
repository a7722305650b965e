/* SPDX-License-Identifier: MIT */
/* For each object the tree of the calls that allocated its blocks. */
#ifndef MEMLAG_ALLOCATIONS_H
#define MEMLAG_ALLOCATIONS_H

#include "db.h"

/* Fills the empty table allocation_finding from the stacks of objects. A path with less
 * than a thousandth of its object's samples, blocks and bytes is left out. */
int allocations_make(struct db *db, struct diag *diag);

#endif
