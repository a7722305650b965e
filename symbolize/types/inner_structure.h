/* SPDX-License-Identifier: MIT */
/* Structures that are members of several types, as the links of lists are. */
#ifndef MEMLAG_SYMBOLIZE_INNER_STRUCTURE_H
#define MEMLAG_SYMBOLIZE_INNER_STRUCTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "type_table.h"

/* Whether the innermost structure within type A around A_OFFSET also lies in B around
 * B_OFFSET (or is B), with both offsets at the same place of it. */
bool inner_structure_shared(const struct types *types, uint32_t a, uint64_t a_offset,
                            uint32_t b, uint64_t b_offset);

/* Whether a structure INNER begins at OFFSET in OUTER, and shares its place there with
 * nothing, as members of a union do. */
bool inner_structure_begins(const struct types *types, uint32_t outer, uint64_t offset,
                            uint32_t inner);

/* Whether TYPE does not tell its content at OFFSET: bytes or an array of integers, for
 * any use, or unlisted members. In a union one such member is enough. Bytes beside a
 * pointer member do not count if a POINTER is read: they may only give the union its
 * size. */
bool inner_untold(const struct types *types, uint32_t type, uint64_t offset,
                  bool pointer);

#endif
