/* SPDX-License-Identifier: MIT */
/* The places of the stacks' nodes: when they are asked about, and where they are then. */
#ifndef MEMLAG_SYMBOLIZE_STACK_PLACE_H
#define MEMLAG_SYMBOLIZE_STACK_PLACE_H

#include "sweep.h"

/* Dates the stacks of blocks and their callers by the first block, and marks call
 * nodes: nodes with children. 0 or -ENOMEM, as all. */
int stacks_date(struct sweep *sweep);
/* Finds the place of STACK as things are in TIMELINE. */
int stack_ask(struct sweep *sweep, const struct timeline *timeline, uint32_t stack);
/* The same for STACK and its callers that belong to PROCESS and were not looked up
 * before. */
int stack_ask_callers(struct sweep *sweep, const struct timeline *timeline,
                      uint32_t process, uint32_t stack);

#endif
