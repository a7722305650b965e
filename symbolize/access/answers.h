/* SPDX-License-Identifier: MIT */
/* Answers questions about the instructions of one function, by data-flow analysis. */
#ifndef MEMLAG_SYMBOLIZE_ANSWERS_H
#define MEMLAG_SYMBOLIZE_ANSWERS_H

#include "flow_walk.h"

/* Answers ANSWERS, COUNT addresses of one function, sorted by address. KNOWN lacks only
 * the function's variables and code. 0 or -ENOMEM. */
int flow_function(const struct flow_context *known, struct flow_answer *answers,
                  size_t count);

/* Answers FLOW_RESULT for step number AT of WALK's code; STATE holds before it. */
void flow_result(const struct flow_walk *walk, struct flow_state *state, size_t at,
                 struct flow_answer *answer);

#endif
