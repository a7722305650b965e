/* SPDX-License-Identifier: MIT */
/* Whether gcc has made one call of two branches', and kept the line and the variables of
 * one: what that takes the result for is not the other's word. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_CALL_H
#define MEMLAG_SYMBOLIZE_MERGED_CALL_H

#include "flow_walk.h"

/* Whether a block in which nothing sets one of the registers HELD, which the call's
 * result was in, has a variable there that may be to something else than TYPE: of a
 * branch whose call became the other's that is all that is left. */
bool merged_call_beside(const struct flow_walk *walk, uint32_t held, uint32_t type);
/* Whether CALL is in a block, or the next thing after it, of which a variable is nowhere
 * that was one to another structure of TYPE's size. */
bool merged_call_before(const struct flow_walk *walk, size_t call, uint32_t type);
/* Whether CALL is in the midst of the block of VARIABLE, and the other branch leads
 * there.
 */
bool merged_call_entered(const struct flow_walk *walk, size_t call,
                         const struct register_variable *variable);

#endif
