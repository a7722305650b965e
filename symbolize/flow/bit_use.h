/* SPDX-License-Identifier: MIT */
/* Which bits of what an instruction reads or writes in memory its function is seen to
 * use: of a bit-field's neighbours in the same bytes, the field that is meant. */
#ifndef MEMLAG_SYMBOLIZE_BIT_USE_H
#define MEMLAG_SYMBOLIZE_BIT_USE_H

#include <stdint.h>

#include "flow_state.h"

/* The bits of the memory operand of STEP, of FLOW's code, that are tested or changed by
 * it and by what follows, from the lowest of its first byte on, as a mask. STATE is what
 * is known before it. 0: all of them, or not known, or none, which is when *UNUSED. */
uint64_t bit_use(const struct flow_context *flow, size_t step,
                 const struct flow_state *state, bool *unused);

#endif
