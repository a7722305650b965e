/* SPDX-License-Identifier: MIT */
/* Which bits of what an instruction reads or writes in memory its function is seen to
 * use: of a bit-field's neighbours in the same bytes, the field that is meant. */
#ifndef MEMLAG_SYMBOLIZE_BIT_USE_H
#define MEMLAG_SYMBOLIZE_BIT_USE_H

#include "flow_state.h"
#include "type_access.h"

/* Says in ACCESS which bits of the memory operand of STEP, of FLOW's code, are tested or
 * changed by it and by what follows, and whether none is. STATE is what is known before
 * it. */
void bit_use(const struct flow_context *flow, size_t step, const struct flow_state *state,
             struct type_access *access);

#endif
