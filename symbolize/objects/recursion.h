/* SPDX-License-Identifier: MIT */
/* Allocation paths that differ only in how deep a recursion was. */
#ifndef MEMLAG_SYMBOLIZE_RECURSION_H
#define MEMLAG_SYMBOLIZE_RECURSION_H

#include "sweep.h"

/* GROUPS, of as many numbers as SWEEP's recording has stacks, gets the same one for the
 * stacks of allocations that are the same path when what lies between two calls of a
 * function in it is left out; RAW_NONE for stacks that no allocation has. 0 or -ENOMEM.
 */
int recursion_groups(const struct sweep *sweep, uint32_t *groups);

#endif
