/* SPDX-License-Identifier: MIT */
/* Allocation paths that differ only in how deep a recursion was. */
#ifndef MEMLAG_SYMBOLIZE_RECURSION_H
#define MEMLAG_SYMBOLIZE_RECURSION_H

#include "sweep.h"

/* Fills GROUPS, an entry for each stack of SWEEP's recording. Two stacks of
 * allocations get the same number if their paths are equal without recursion.
 * Recursion is the part of a path between two calls of a function. Stacks that lead to
 * no allocation get RAW_NONE. 0 or -ENOMEM. */
int recursion_groups(const struct sweep *sweep, uint32_t *groups);

#endif
