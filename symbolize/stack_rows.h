/* SPDX-License-Identifier: MIT */
/* The rows of call stacks: where their nodes are, and which allocated objects' blocks. */
#ifndef MEMLAG_SYMBOLIZE_STACK_ROWS_H
#define MEMLAG_SYMBOLIZE_STACK_ROWS_H

#include "object.h"

/* Writes those of FROM and OBJECTS. 0 or a negative errno value. */
int stack_rows_write(const struct object_sources *from, const struct objects *objects,
                     struct db *db, struct diag *diag);

#endif
