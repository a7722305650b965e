/* SPDX-License-Identifier: MIT */
/* A stack slot that variables of several blocks share. Compilers merge code of different
 * blocks, so the code's block does not tell which one is there. */
#ifndef MEMLAG_SYMBOLIZE_SHARED_PLACE_H
#define MEMLAG_SYMBOLIZE_SHARED_PLACE_H

#include "flow_state.h"
#include "variables.h"

/* Marks those VARIABLES, with types of TYPES, that share their place with a variable of
 * another name or type. 0 or -ENOMEM. */
int shared_places_find(struct variables *variables, const struct types *types);

/* Makes VARIABLE stand for all that may be at PLACE when the code is at VADDR: without a
 * name, of their common type. False: they have none, or begin at different places. */
bool shared_place_variable(const struct flow_context *flow,
                           const struct flow_state *state,
                           const struct place_value *place, uint64_t vaddr,
                           struct frame_variable *variable, int64_t *offset);

/* Notes where VARIABLES with pointers to unrelated structures are in one register at the
 * same time. 0 or -ENOMEM. */
int rival_variables_find(struct variables *variables, struct type_reader *reader);

#endif
