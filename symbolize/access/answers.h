/* SPDX-License-Identifier: MIT */
/* Questions about the instructions of one function, and what data flow says to them. */
#ifndef MEMLAG_SYMBOLIZE_ANSWERS_H
#define MEMLAG_SYMBOLIZE_ANSWERS_H

#include "flow_walk.h"

/* Answers ANSWERS, COUNT addresses of one function, in their order of address. KNOWN
 * lacks only the function's variables and code. 0 or -ENOMEM. */
int flow_function(const struct flow_context *known, struct flow_answer *answers,
                  size_t count);

/* Answers the question FLOW_RESULT about the step number AT of WALK's code, before which
 * STATE holds. */
void flow_result(const struct flow_walk *walk, struct flow_state *state, size_t at,
                 struct flow_answer *answer);

#endif
