/* SPDX-License-Identifier: MIT */
/* Debug information gives merged code to one of its blocks. If the variables of several
 * blocks share a stack slot, the variable there is not known. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_CODE_H
#define MEMLAG_SYMBOLIZE_MERGED_CODE_H

#include "flow_walk.h"

/* Adds SHARED ranges to VARIABLES, which WALK knew: code of another variable's block
 * where this variable may be in the same slot. *FOUND: there are some. 0 or -ENOMEM. */
int merged_code_find(const struct flow_walk *walk, struct variables *variables,
                     bool *found);

#endif
