/* SPDX-License-Identifier: MIT */
/* Where an instruction's memory operand is, by what its registers hold. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_OPERAND_H
#define MEMLAG_SYMBOLIZE_FLOW_OPERAND_H

#include "flow_walk.h"

/* Where the memory operand of STEP is. */
struct place_value flow_operand(const struct flow_context *flow, struct flow_state *state,
                                const struct flow_step *step);

/* Where step number AT of WALK's code loads from, before which *STATE holds; unknown
 * where names have had all work. */
struct place_value flow_loaded_from(const struct flow_walk *walk, size_t at,
                                    struct flow_state *state);

/* A plus SCALE times B; one may be an object and the other the offset of its virtual
 * base. */
struct place_value flow_sum(const struct flow_context *flow, const struct place_value *a,
                            const struct place_value *b, uint64_t scale);

/* The thread-local variable that the dynamic linker's entry at PLACE, of KIND, means.
 * PLACE_UNKNOWN: none. */
struct place_value flow_thread_slot(const struct flow_context *flow,
                                    const struct place_value *place,
                                    enum thread_slot_kind kind);

#endif
