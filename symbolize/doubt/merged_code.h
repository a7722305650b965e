/* SPDX-License-Identifier: MIT */
/* Code that the compiler merged out of several of a function's blocks is, for the debug
 * information, that of one of them. Which variable lies in memory that these share is not
 * known there. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_CODE_H
#define MEMLAG_SYMBOLIZE_MERGED_CODE_H

#include "flow_walk.h"

/* Adds to VARIABLES, those that WALK knew, ranges that are SHARED: code of another
 * variable's block at the same place in which this one may be meant. *FOUND: there are
 * some. 0 or -ENOMEM. */
int merged_code_find(const struct flow_walk *walk, struct variables *variables,
                     bool *found);

#endif
