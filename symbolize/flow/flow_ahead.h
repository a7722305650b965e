/* SPDX-License-Identifier: MIT */
/* A pointer's target, by a variable that comes into scope soon afterwards: compilers move
 * code up to where its variable has no location yet. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_AHEAD_H
#define MEMLAG_SYMBOLIZE_FLOW_AHEAD_H

#include "flow_state.h"

/* REG's target before step number STEP of CODE, if nothing else is known. A variable with
 * a structure pointer decides, if its register has REG's value and a constant a few
 * instructions later, without a jump between. PLACE_UNKNOWN: no such structure has a
 * member at DISPLACEMENT from REG's value. */
struct place_value flow_ahead(const struct flow_context *flow,
                              const struct flow_code *code, size_t step, uint8_t reg,
                              int64_t displacement);

#endif
