/* SPDX-License-Identifier: MIT */
/* The type of a sample in a block of the heap. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_BY_BLOCK_H
#define MEMLAG_SYMBOLIZE_TYPE_BY_BLOCK_H

#include "sample_type.h"

struct sample_type type_by_block(struct sample_types *finder,
                                 const struct sample_location *location);

#endif
