/* SPDX-License-Identifier: MIT */
/* What the blocks of an allocation stack hold: what the allocation was taken for, as long
 * as no sample shows that something else is there. */
#ifndef MEMLAG_SYMBOLIZE_BLOCK_TYPE_H
#define MEMLAG_SYMBOLIZE_BLOCK_TYPE_H

#include "sweep.h"

struct block_type {
        uint32_t type;    /* TYPE_NONE: not known */
        uint32_t pointer; /* the name of one that takes a block for it; 0: not known */
        uint32_t place;   /* of the call which that follows, when the type is known */
        bool mixed;       /* samples show that something else is there too */
        bool doubted;     /* an access shows that */
        bool replaced;    /* pointers to another type of its size lead to items of it */
        bool behind;      /* or to what may be the second item */
        /* There are several items of its type, at multiples of so many bytes; 0: only one
         * is known. */
        uint64_t step_bytes;
        uint32_t item; /* another type of which there are some; TYPE_NONE: not known */
        uint64_t item_step_bytes;
        bool between; /* structures begin where no item of its type does */
        bool before;  /* or before the block: they are not there */
        bool records; /* samples show that there are structures */
        bool used;    /* or are of instructions that may access structures there */
};

/* How a pointer to a place in a block goes with the type that it was allocated as. */
enum block_relation {
        BLOCK_AGREES = 1,
        BLOCK_DIFFERS = 2,
        BLOCK_REPLACES =
            4, /* another structure of the same size begins where an item does */
        BLOCK_BEHIND = 8,  /* so does the second item, unless the first is but a header */
        BLOCK_IS = 16,     /* it is what was allocated */
        BLOCK_BEGINS = 32, /* what differs begins where an item does */
        BLOCK_BETWEEN = 64, /* it is a structure, and begins where no item does */
        BLOCK_BEFORE = 128  /* the same, before the block */
};

/* By the innermost function of STACK that does not only hand on what it allocated. A type
 * of no bytes says nothing of a block. */
struct block_type block_type_of_allocation(const struct sweep *sweep,
                                           const struct types *types, uint32_t stack);

/* The one of them for PLACE and an address that is INSIDE a block of TYPE (TYPE_NONE: it
 * is not known); BLOCK_IS and those behind it besides where that is so. */
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

/* Whether what is INSIDE one of BLOCKS, whose type fills them, is of that type: in the
 * first item, or behind that when it is known that there are several. What lies in an
 * array of any number of items at its end is so when an instruction's pointer, which
 * leads to PLACE (NULL: it is not known; VECTOR: to several numbers at once), counts such
 * items, or the block has just the size of a number of large ones: other things may lie
 * behind them. */
bool block_type_reaches(const struct block_type *blocks, const struct types *types,
                        uint64_t block_bytes, uint64_t inside,
                        const struct place_value *place, bool vector);

/* Takes note of what a pointer shows that is known to lead to PLACE, with the RELATION of
 * that to BLOCKS (0: their type is not known). */
void block_type_learn(struct block_type *blocks, const struct types *types,
                      const struct place_value *place, unsigned relation);

/* Whether BLOCKS hold more than what they are allocated as. Functions that were merged
 * have pointers to another type, which say nothing of the blocks. */
bool block_type_mixed(const struct block_type *blocks);

/* Whether items of TYPE can fill a block of BLOCK_BYTES. */
bool block_type_fills(const struct types *types, uint32_t type, uint64_t block_bytes);

/* Where in an item of TYPE a place INSIDE a block of such items is. */
uint64_t block_type_offset(const struct types *types, uint32_t type, uint64_t inside);

/* Whether a pointer that leads to PLACE can point into an item of TYPE, where the address
 * is INSIDE a block of these. */
bool block_type_agrees(const struct types *types, uint32_t type, uint64_t inside,
                       const struct place_value *place);

#endif
