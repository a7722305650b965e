/* SPDX-License-Identifier: MIT */
/* The content of the blocks of an allocation stack: the allocation's type, until a sample
 * shows something else. */
#ifndef MEMLAG_SYMBOLIZE_BLOCK_TYPE_H
#define MEMLAG_SYMBOLIZE_BLOCK_TYPE_H

#include "sweep.h"

struct block_type {
        uint32_t type;    /* TYPE_NONE: not known */
        uint32_t pointer; /* the name of one that takes a block for it; 0: not known */
        uint32_t place;   /* of the call which that follows, when the type is known */
        unsigned seen;    /* relations of the pointers to them, see block_relation */
        /* There are several items of its type, at multiples of so many bytes; 0: only one
         * is known. */
        uint64_t step_bytes;
        uint32_t item; /* another type that has items there; TYPE_NONE: not known */
        uint64_t item_step_bytes;
        bool records; /* samples show that there are structures */
        bool used;    /* or are of instructions that may access structures there */
};

/* How a pointer to a place in a block disagrees with the type that it was allocated as.
 */
enum block_relation {
        BLOCK_DIFFERS = 1,
        /* Another structure of the same size begins where an item does. */
        BLOCK_REPLACES = 2,
        BLOCK_BEHIND = 4 /* so does the second item, unless the first is but a header */
};

/* Uses the innermost function of STACK that does not only pass the block on. A type of no
 * bytes decides nothing. */
struct block_type block_type_of_allocation(const struct sweep *sweep,
                                           const struct types *types, uint32_t stack);

/* The relation between PLACE and an address at offset INSIDE of a block of TYPE
 * (TYPE_NONE: not known); 0: they agree. */
unsigned block_type_relation(const struct types *types, uint32_t type, uint64_t inside,
                             const struct place_value *place);

/* Takes note of a pointer to PLACE, whose address is INSIDE one of BLOCKS, where it is to
 * an item behind the first, of their type or of another. */
void block_type_learn_items(struct block_type *blocks, const struct types *types,
                            uint64_t inside, const struct place_value *place);

/* Whether an item that begins at START in one of BLOCKS is known to be one of several of
 * TYPE. */
bool block_type_has_item(const struct block_type *blocks, const struct types *types,
                         uint32_t type, uint64_t start);

/* Whether offset INSIDE of one of BLOCKS, whose type fills them, has that type. It has in
 * the first item, and behind it if several items are known. A flexible array at the end
 * also needs an instruction's pointer to PLACE that counts its items (NULL: not known;
 * VECTOR: several numbers at once), or a block of the size of many items: other things
 * may follow. */
bool block_type_reaches(const struct block_type *blocks, const struct types *types,
                        uint64_t block_bytes, uint64_t inside,
                        const struct place_value *place, bool vector);

/* Whether BLOCKS hold more than their allocated type. Pointers in merged functions do not
 * count. */
bool block_type_mixed(const struct block_type *blocks);

/* Whether items of TYPE can fill a block of BLOCK_BYTES. */
bool block_type_fills(const struct types *types, uint32_t type, uint64_t block_bytes);

/* Where in an item of TYPE a place INSIDE a block of such items is. */
uint64_t block_type_offset(const struct types *types, uint32_t type, uint64_t inside);

/* Whether a pointer to PLACE can point into an item of TYPE at offset INSIDE of its
 * block. */
bool block_type_agrees(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place);

#endif
