/* SPDX-License-Identifier: MIT */
/* Where gcc joins the code of two blocks, both ways lead into what the debug information
 * has as one of them. */
#ifndef MEMLAG_SYMBOLIZE_MERGED_ENTRY_H
#define MEMLAG_SYMBOLIZE_MERGED_ENTRY_H

#include "flow_walk.h"

/* Whether several ways, other than the rounds of a loop, meet where VARIABLE is in its
 * register first, or shortly before step number STEP, which is by it. Memory that is
 * short shows in the reader. */
bool merged_entry(const struct flow_walk *walk, size_t step,
                  const struct register_variable *variable);

#endif
