/* SPDX-License-Identifier: MIT */
/* Prints the data-flow analysis of a function, to find out why a type is wrong. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_TRACE_H
#define MEMLAG_SYMBOLIZE_FLOW_TRACE_H

#include "flow_walk.h"

/* Prints to standard output the registers and stack slots before each instruction of
 * WALK's code up to step number STEP, and ANSWER, the answer for that step. */
void flow_trace(const struct flow_walk *walk, size_t step,
                const struct flow_answer *answer);

#endif
