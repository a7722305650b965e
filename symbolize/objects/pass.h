/* SPDX-License-Identifier: MIT */
/* Iterates over samples in time order and finds each sample's location, from the
 * mappings and blocks at that time. Functions return 0 or a negative errno value. */
#ifndef MEMLAG_SYMBOLIZE_PASS_H
#define MEMLAG_SYMBOLIZE_PASS_H

#include "sweep.h"

/* Dates the stacks of blocks and their callers by the first block, and marks call
 * nodes: nodes with children. 0 or -ENOMEM. */
int pass_date_stacks(struct sweep *sweep);
/* After the last sample: looks up the stacks without samples. A stack with an
 * allocated block uses the mappings of the block's time. Other stacks (of blocks
 * without samples) use all mappings that ever were, the latest first. */
int pass_ask_other_stacks(struct sweep *sweep);
/* Frees SWEEP's knowledge of its processes at the current time. */
void pass_forget(struct sweep *sweep);

#endif
