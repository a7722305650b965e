/* SPDX-License-Identifier: MIT */
/* What a pointer leads to by the variables that are named soon afterwards: compilers move
 * code to where the debug information does not call a register a variable yet. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_AHEAD_H
#define MEMLAG_SYMBOLIZE_FLOW_AHEAD_H

#include "flow_state.h"

/* What REG points to before step number STEP of CODE, of which nothing else is known. A
 * variable that points to a structure, in a register that holds REG's value and a
 * constant a few instructions on, without a jump between, tells that structure.
 * PLACE_UNKNOWN: there is none whose structure holds what is at DISPLACEMENT from REG's
 * value. */
struct place_value flow_ahead(const struct flow_context *flow,
                              const struct flow_code *code, size_t step, uint8_t reg,
                              int64_t displacement);

#endif
