/* SPDX-License-Identifier: MIT */
/* The bytes of a type without a field. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_PADDING_H
#define MEMLAG_SYMBOLIZE_TYPE_PADDING_H

#include "type_table.h"

struct padding {
        uint64_t offset_bytes; /* from the type's start */
        uint64_t size_bytes;
};

/* Sets *FOUND, which the caller frees, to TYPE's padding by offset, and *COUNT; none if
 * the type is not completely known. Arrays count as full: padding in their items belongs
 * to another type. 0 or -ENOMEM. */
int type_padding(const struct types *types, uint32_t type, struct padding **found,
                 size_t *count);

#endif
