/* SPDX-License-Identifier: MIT */
/* A pointer's name in the source: "p", "p->left", "table[].first". */
#ifndef MEMLAG_SYMBOLIZE_POINTER_NAME_H
#define MEMLAG_SYMBOLIZE_POINTER_NAME_H

#include "flow_walk.h"

/* The name of POINTER in WALK's reader: the variable, field or call that gives its type,
 * with the path from a variable. 0: it has none, or paths differ. */
uint32_t pointer_name(const struct flow_walk *walk, const struct place_value *pointer);

/* The same for the pointer at PLACE, before the instruction at VADDR. */
uint32_t pointer_name_stored(const struct flow_walk *walk, const struct flow_state *state,
                             const struct place_value *place, uint64_t vaddr);

/* The same for the result of WALK's function. */
uint32_t pointer_name_returned(const struct flow_walk *walk);

#endif
