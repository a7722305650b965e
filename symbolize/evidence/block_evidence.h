/* SPDX-License-Identifier: MIT */
/* What samples show of the blocks that they fell into. */
#ifndef MEMLAG_SYMBOLIZE_BLOCK_EVIDENCE_H
#define MEMLAG_SYMBOLIZE_BLOCK_EVIDENCE_H

#include "sample_type.h"

/* Starts from the assumption that each block has its allocation's type. */
void block_evidence_begin(struct sample_types *finder);
/* Learns about the blocks of STACK from a sample at LOCATION in one of them. */
void block_evidence_learn(struct sample_types *finder,
                          const struct sample_location *location, uint32_t stack);

#endif
