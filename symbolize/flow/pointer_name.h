/* SPDX-License-Identifier: MIT */
/* What the source calls a pointer: "p", "p->left", "table[].first". */
#ifndef MEMLAG_SYMBOLIZE_POINTER_NAME_H
#define MEMLAG_SYMBOLIZE_POINTER_NAME_H

#include "flow_walk.h"

/* The name of POINTER, a place that was followed, as WALK's reader puts it: of the
 * variable, the field or the call that tells what it is to, with the way there from a
 * variable. 0: that is not the same on all ways, or has no name. */
uint32_t pointer_name(const struct flow_walk *walk, const struct place_value *pointer);

/* The same of the pointer that is stored at PLACE, before the instruction at VADDR. */
uint32_t pointer_name_stored(const struct flow_walk *walk, const struct flow_state *state,
                             const struct place_value *place, uint64_t vaddr);

/* The same of what the function of WALK returns. */
uint32_t pointer_name_returned(const struct flow_walk *walk);

#endif
