/* SPDX-License-Identifier: MIT */
/* Which bits of what an instruction reads or writes in memory its function is seen to
 * use: of a bit-field's neighbours in the same bytes, the field that is meant. */
#ifndef MEMLAG_SYMBOLIZE_BIT_USE_H
#define MEMLAG_SYMBOLIZE_BIT_USE_H

#include "flow_state.h"
#include "type_access.h"

/* Sets in ACCESS which bits of STEP's memory operand FLOW's code tests or changes, there
 * and later, and whether it uses none. STATE is the state before STEP. */
void bit_use(const struct flow_context *flow, size_t step, const struct flow_state *state,
             struct type_access *access);

#endif
