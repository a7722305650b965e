/* SPDX-License-Identifier: MIT */
/* The bytes of a type in which none of its fields lies. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_PADDING_H
#define MEMLAG_SYMBOLIZE_TYPE_PADDING_H

#include "type_table.h"

struct padding {
        uint64_t offset_bytes; /* from the type's start */
        uint64_t size_bytes;
};

/* Puts the padding of TYPE in the order of offsets into *FOUND, which the caller frees;
 * *COUNT of them, none where the type is not known whole. Arrays are taken as full: the
 * padding in their items is that of another type. 0 or -ENOMEM. */
int type_padding(const struct types *types, uint32_t type, struct padding **found,
                 size_t *count);

#endif
