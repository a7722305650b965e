/* SPDX-License-Identifier: MIT */
/* Whether gcc has made one call of two branches', and kept the line and the variables of
 * one: what that takes the result for is not the other's word. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_CALL_H
#define MEMLAG_SYMBOLIZE_MERGED_CALL_H

#include "flow_walk.h"

/* Whether a block leads to step CALL of which nothing is left but a variable of no type
 * that a pointer tells, in one of the registers HELD that the result was in. */
bool merged_call_beside(const struct flow_walk *walk, size_t call, uint32_t held);
/* Whether CALL is in the midst of the block of VARIABLE, and the other branch leads
 * there.
 */
bool merged_call_entered(const struct flow_walk *walk, size_t call,
                         const struct register_variable *variable);

#endif
