/* SPDX-License-Identifier: MIT */
/* What a free list keeps in an item is a link of its own, whatever the item is taken for:
 * `p = (struct item *)list; list = ((struct link *)p)->next;` */
#ifndef MEMLAG_SYMBOLIZE_POPPED_LINK_H
#define MEMLAG_SYMBOLIZE_POPPED_LINK_H

#include "flow_walk.h"

/* Whether step number STEP, before which STATE holds, loads by BASE what is stored, next,
 * to where that pointer was loaded from, and that is declared as a pointer to another
 * structure than BASE, and than the pointer that it would load. */
bool popped_link(const struct flow_walk *walk, const struct flow_state *state,
                 size_t step, const struct place_value *base);

#endif
