/* SPDX-License-Identifier: MIT */
/* Shows what data flow knows in a function, to find out why a type is wrong. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_TRACE_H
#define MEMLAG_SYMBOLIZE_FLOW_TRACE_H

#include "flow_walk.h"

/* Prints to standard output what registers and stack slots hold before each instruction
 * of WALK's code up to step number STEP, and ANSWER, the answer about that step. */
void flow_trace(const struct flow_walk *walk, size_t step,
                const struct flow_answer *answer);

#endif
