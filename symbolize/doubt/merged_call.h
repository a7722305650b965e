/* SPDX-License-Identifier: MIT */
/* gcc may make one call of two branches' calls and keep the line and variables of one.
 * The variables of that branch do not tell what the other uses the result for. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_CALL_H
#define MEMLAG_SYMBOLIZE_MERGED_CALL_H

#include "flow_walk.h"

/* Whether a variable of another type than TYPE belongs in one of the registers HELD,
 * which had the call's result, but nothing in its block sets it. Nothing else remains of
 * a branch whose call was merged. */
bool merged_call_beside(const struct flow_walk *walk, uint32_t held, uint32_t type);
/* Whether CALL is in or directly behind a block with a variable without a location, which
 * pointed to another structure of TYPE's size. */
bool merged_call_before(const struct flow_walk *walk, size_t call, uint32_t type);

#endif
