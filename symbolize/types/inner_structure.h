/* SPDX-License-Identifier: MIT */
/* Structures that are members of several types, as the links of lists are. */
#ifndef MEMLAG_SYMBOLIZE_INNER_STRUCTURE_H
#define MEMLAG_SYMBOLIZE_INNER_STRUCTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "type_table.h"

/* Whether the innermost structure in type A around A_OFFSET, which is not A itself, lies
 * in B around B_OFFSET too (or is B), with the two offsets at the same place of it. */
bool inner_structure_shared(const struct types *types, uint32_t a, uint64_t a_offset,
                            uint32_t b, uint64_t b_offset);

/* Whether a structure INNER begins at OFFSET in OUTER, and shares its place there with
 * nothing, as members of a union do. */
bool inner_structure_begins(const struct types *types, uint32_t outer, uint64_t offset,
                            uint32_t inner);

/* Whether TYPE leaves it open what lies at OFFSET: bytes or an array of integers, in
 * which a program may keep anything, or members that are not listed. Of a union one such
 * member is enough, unless a POINTER is read where another has one: bytes beside that may
 * only give the union its size. */
bool inner_untold(const struct types *types, uint32_t type, uint64_t offset,
                  bool pointer);

#endif
