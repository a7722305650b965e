/* SPDX-License-Identifier: MIT */
/* Whether a block that a function of C++'s library asked for is items of one type, from
 * its beginning to its end, as such a function asks for nothing else. */
#ifndef MEMLAG_SYMBOLIZE_ALLOCATED_ITEMS_H
#define MEMLAG_SYMBOLIZE_ALLOCATED_ITEMS_H

#include "code.h"
#include "type_table.h"

/* Whether the call at PLACE, which has names, allocates items of TYPE: in
 * std::allocator<TYPE>::allocate(), std::make_unique<TYPE[]>() or a function inlined into
 * these. */
bool allocated_items(const struct code_frames *frames, const struct code_place *place,
                     const struct types *types, const struct string_pool *names,
                     uint32_t type);

#endif
