/* SPDX-License-Identifier: MIT */
/* The rows of call stacks: their nodes' locations, and the objects allocated there. */
#ifndef MEMLAG_SYMBOLIZE_STACK_ROWS_H
#define MEMLAG_SYMBOLIZE_STACK_ROWS_H

#include "object.h"

/* Writes the rows of all stacks of FROM and OBJECTS. 0 or a negative errno value. */
int stack_rows_write(const struct object_sources *from, const struct objects *objects,
                     struct db *db, struct diag *diag);

#endif
