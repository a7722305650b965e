/* SPDX-License-Identifier: MIT */
/* The type for which the code after a call uses the returned pointer. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_RESULT_H
#define MEMLAG_SYMBOLIZE_FLOW_RESULT_H

#include "flow_walk.h"

/* Answers the question FLOW_RESULT about the step number AT of WALK's code, before which
 * STATE holds. */
void flow_result(const struct flow_walk *walk, struct flow_state *state, size_t at,
                 struct flow_answer *answer);

#endif
