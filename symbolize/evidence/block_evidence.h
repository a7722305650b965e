/* SPDX-License-Identifier: MIT */
/* What samples show of the blocks that they fell into. */
#ifndef MEMLAG_SYMBOLIZE_BLOCK_EVIDENCE_H
#define MEMLAG_SYMBOLIZE_BLOCK_EVIDENCE_H

#include "sample_type.h"

/* Takes all blocks for what they were allocated as. */
void block_evidence_begin(struct sample_types *finder);
/* Takes note of what a sample at LOCATION shows of the blocks of STACK, one of which it
 * is in. */
void block_evidence_learn(struct sample_types *finder,
                          const struct sample_location *location, uint32_t stack);

#endif
