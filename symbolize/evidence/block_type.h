/* SPDX-License-Identifier: MIT */
/* The content of the blocks of an allocation stack: the allocation's type, until a sample
 * shows something else. */
#ifndef MEMLAG_SYMBOLIZE_BLOCK_TYPE_H
#define MEMLAG_SYMBOLIZE_BLOCK_TYPE_H

#include "sweep.h"

struct block_type {
        uint32_t type;    /* TYPE_NONE: not known */
        uint32_t pointer; /* the name of a pointer with the type; 0: not known */
        uint32_t place;   /* of the allocating call, if the type is known */
        unsigned seen;    /* disagreements of pointers, see block_relation */
        /* Several items of the type are at multiples of it; 0: only one item is known. */
        uint64_t step_bytes;
        uint32_t item; /* another type with items there; TYPE_NONE: not known */
        uint64_t item_step_bytes;
        bool records; /* samples show structures */
        bool used;    /* or samples may access structures */
};

/* How a pointer into a block disagrees with the block's allocated type. */
enum block_relation {
        BLOCK_DIFFERS = 1,
        /* Another structure of the same size begins where an item begins. */
        BLOCK_REPLACES = 2,
        BLOCK_BEHIND = 4 /* the same at the second item: the first may be a header */
};

/* The type of STACK's blocks, from its innermost function that does not only pass the
 * block on. A type of no bytes does not count. */
struct block_type block_type_of_allocation(const struct sweep *sweep,
                                           const struct types *types, uint32_t stack);

/* How PLACE, at offset INSIDE of a block of TYPE (TYPE_NONE: not known), disagrees with
 * the type; 0: it agrees. */
unsigned block_type_relation(const struct types *types, uint32_t type, uint64_t inside,
                             const struct place_value *place);

/* Notes a pointer to PLACE, at INSIDE of one of BLOCKS, if it points to an item behind
 * the first, of their type or another. */
void block_type_learn_items(struct block_type *blocks, const struct types *types,
                            uint64_t inside, const struct place_value *place);

/* Whether the item at START in one of BLOCKS is known to be one of several of TYPE. */
bool block_type_has_item(const struct block_type *blocks, const struct types *types,
                         uint32_t type, uint64_t start);

/* Whether offset INSIDE of one of BLOCKS has their type, which fills them. The first item
 * has it, and the others if several items are known. A flexible array at the end needs
 * further evidence, because other things may follow: an instruction's pointer to PLACE
 * that counts its items (NULL: not known; VECTOR: several numbers at once), or a block
 * with the size of many items. */
bool block_type_reaches(const struct block_type *blocks, const struct types *types,
                        uint64_t block_bytes, uint64_t inside,
                        const struct place_value *place, bool vector);

/* Whether BLOCKS hold more than their allocated type, except in merged functions. */
bool block_type_mixed(const struct block_type *blocks);

/* Whether items of TYPE can fill a block of BLOCK_BYTES. */
bool block_type_fills(const struct types *types, uint32_t type, uint64_t block_bytes);

/* The offset in an item of TYPE of the offset INSIDE of a block of such items. */
uint64_t block_type_offset(const struct types *types, uint32_t type, uint64_t inside);

/* Whether a pointer to PLACE can point into an item of TYPE at INSIDE of its block. */
bool block_type_agrees(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place);

#endif
