/* SPDX-License-Identifier: MIT */
/* A stack slot that variables of several blocks share. Compilers merge code of different
 * blocks, so the code's block does not determine the variable. */
#ifndef MEMLAG_SYMBOLIZE_SHARED_PLACE_H
#define MEMLAG_SYMBOLIZE_SHARED_PLACE_H

#include "flow_state.h"
#include "variables.h"

/* Marks the VARIABLES, with types of TYPES, that overlap a variable of another name or
 * type. 0 or -ENOMEM. */
int shared_places_find(struct variables *variables, const struct types *types);

/* Makes VARIABLE, without a name, stand for all variables that may be at PLACE when the
 * code is at VADDR, with their common type. False: they have none, or begin at different
 * offsets. */
bool shared_place_variable(const struct flow_context *flow,
                           const struct flow_state *state,
                           const struct place_value *place, uint64_t vaddr,
                           struct frame_variable *variable, int64_t *offset);

/* Marks VARIABLES that point to unrelated structures and are in one register at the same
 * time. 0 or -ENOMEM. */
int rival_variables_find(struct variables *variables, struct type_reader *reader);

#endif
