/* SPDX-License-Identifier: MIT */
/* The effect of one instruction on the state. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_EFFECT_H
#define MEMLAG_SYMBOLIZE_FLOW_EFFECT_H

#include "flow_state.h"

/* Makes STATE, which holds before STEP, the one that holds after it. */
void flow_effect(const struct flow_context *flow, struct flow_state *state,
                 const struct flow_step *step);

#endif
