/* SPDX-License-Identifier: MIT */
/* The address of an instruction's memory operand, from the values of its registers. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_OPERAND_H
#define MEMLAG_SYMBOLIZE_FLOW_OPERAND_H

#include "flow_walk.h"

/* The address of STEP's memory operand. */
struct place_value flow_operand(const struct flow_context *flow, struct flow_state *state,
                                const struct flow_step *step);

/* The address that step number AT of WALK's code loads from; *STATE becomes the state
 * before it. Unknown if the limit on work for names is reached. */
struct place_value flow_loaded_from(const struct flow_walk *walk, size_t at,
                                    struct flow_state *state);

/* A plus SCALE times B, perhaps an object and the offset of its virtual base. */
struct place_value flow_sum(const struct flow_context *flow, const struct place_value *a,
                            const struct place_value *b, uint64_t scale);

/* The thread-local variable of the dynamic linker's entry at PLACE, of KIND.
 * PLACE_UNKNOWN: none. */
struct place_value flow_thread_slot(const struct flow_context *flow,
                                    const struct place_value *place,
                                    enum thread_slot_kind kind);

#endif
