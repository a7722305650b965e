/* SPDX-License-Identifier: MIT */
/* Copies of one load in an unrolled loop: the first copy's evidence holds for all. */
#ifndef MEMLAG_SYMBOLIZE_UNROLLED_H
#define MEMLAG_SYMBOLIZE_UNROLLED_H

#include "flow_walk.h"

/* Finds copies among ANSWERS, COUNT operands of WALK's code. An index may begin items
 * behind its pointer's target, or have a stride that is no power of two. It counts items
 * if all earlier copies of its expression do: then it is no longer SHIFTED or GUESSED. 0
 * or -ENOMEM. */
int unrolled_find(const struct flow_walk *walk, struct flow_answer *answers,
                  size_t count);

#endif
