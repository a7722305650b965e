/* SPDX-License-Identifier: MIT */
/* Copies of one load that compilers make where they unroll a loop: what the source says
 * of the first holds of all. */
#ifndef MEMLAG_SYMBOLIZE_UNROLLED_H
#define MEMLAG_SYMBOLIZE_UNROLLED_H

#include "flow_walk.h"

/* Of ANSWERS, COUNT of them, to the operands of the code of WALK: the index of one that
 * begins items behind where its pointer is to, or counts in a number of items that is no
 * power of two, is known to count items where that is so of all those before it, too, by
 * instructions of the same expression of the source: it is no longer SHIFTED or GUESSED.
 * 0 or -ENOMEM. */
int unrolled_find(const struct flow_walk *walk, struct flow_answer *answers,
                  size_t count);

#endif
