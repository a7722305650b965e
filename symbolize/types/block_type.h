/* SPDX-License-Identifier: MIT */
/* What the blocks of an allocation stack hold: what the allocation was taken for, as long
 * as no sample shows that something else is there. */
#ifndef MEMLAG_SYMBOLIZE_BLOCK_TYPE_H
#define MEMLAG_SYMBOLIZE_BLOCK_TYPE_H

#include "sweep.h"

struct block_type {
        uint32_t type; /* TYPE_NONE: not known */
        bool mixed;    /* samples show that something else is there too */
        bool records;  /* samples show that there are structures */
        bool used;     /* or are of instructions that may access structures there */
};

/* By the innermost function of STACK that does not only hand on what it allocated. A type
 * of no bytes says nothing of a block. */
struct block_type block_type_of_allocation(const struct sweep *sweep,
                                           const struct types *types, uint32_t stack);

/* Takes note of what a pointer that is known to lead to PLACE shows, with an address that
 * is INSIDE a block of BLOCKS. */
void block_type_learn(struct block_type *blocks, const struct types *types,
                      uint64_t inside, const struct place_value *place);

/* Whether items of TYPE can fill a block of BLOCK_BYTES. */
bool block_type_fills(const struct types *types, uint32_t type, uint64_t block_bytes);

/* Where in an item of TYPE a place INSIDE a block of such items is. */
uint64_t block_type_offset(const struct types *types, uint32_t type, uint64_t inside);

/* Whether a pointer that leads to PLACE can point into an item of TYPE, where the address
 * is INSIDE a block of these. */
bool block_type_agrees(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place);

#endif
