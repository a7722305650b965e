/* SPDX-License-Identifier: MIT */
/* gcc may merge the calls of two branches into one, with the line and variables of one
 * branch. The variables of that branch do not show how the other branch uses the
 * result. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_CALL_H
#define MEMLAG_SYMBOLIZE_MERGED_CALL_H

#include "flow_walk.h"

/* Whether a variable of another type than TYPE belongs in one of the registers HELD,
 * which had the call's result, but nothing in its block sets it. A merged call leaves no
 * other trace of its branch. */
bool merged_call_beside(const struct flow_walk *walk, uint32_t held, uint32_t type);
/* Whether CALL is in or directly behind the block of a variable without a location that
 * pointed to another structure of TYPE's size. */
bool merged_call_before(const struct flow_walk *walk, size_t call, uint32_t type);

#endif
