/* SPDX-License-Identifier: MIT */
/* A stack slot that several variables share, without evidence which one is there. */
#ifndef MEMLAG_SYMBOLIZE_SHARED_PLACE_H
#define MEMLAG_SYMBOLIZE_SHARED_PLACE_H

#include "flow_state.h"

/* Makes VARIABLE stand for all that may be at PLACE when the code is at VADDR: named
 * "first|second", of their type if they have one in common, else of TYPE_NONE. False:
 * there are not several, or too many, or they do not begin at one place. */
bool shared_place_variable(const struct flow_context *flow,
                           const struct flow_state *state,
                           const struct place_value *place, uint64_t vaddr,
                           struct frame_variable *variable, int64_t *offset);

#endif
