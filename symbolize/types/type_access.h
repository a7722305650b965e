/* SPDX-License-Identifier: MIT */
/* How instructions access numbers, and how well that fits what lies there. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_ACCESS_H
#define MEMLAG_SYMBOLIZE_TYPE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "type_table.h"

/* What the access shows of its number. */
enum access_number {
        NUMBER_ANY,     /* nothing: it may also be moved as a part of a structure */
        NUMBER_INTEGER, /* all bytes of an integer or a pointer */
        NUMBER_FLOATS,  /* one number of floating point, or several smaller ones */
        NUMBER_FLOAT
};

/* How an instruction reads or writes. */
struct type_access {
        uint32_t bytes; /* 0: not known */
        enum access_number number;
        /* NUMBER is an integer by what programs do to parts of floating point, too. */
        bool perhaps_float;
        bool vector;         /* several numbers at once */
        uint32_t item_bytes; /* of each of several numbers; 0: not known */
        /* By an unknown pointer, or with an unproved index: if that leads to bytes, the
         * access may be to several, as of a structure there. */
        bool unproved;
        /* By a pointer to such numbers that may be to an array in the structure which the
         * pointer is in. */
        bool own_items;
        /* The step of an index that counts items of the array around the access; 0: none,
         * or it may count something else. */
        uint64_t step_bytes;
        /* The members in the source's expression, see source_expression.h; 0: not known.
         * Where the compiler merges equal accesses, they may belong to one of them. */
        uint32_t members;
        bool members_of_one;
};

/* Of one number of TYPE: complex ones are two. */
uint64_t type_number_bytes(const struct type *type);

bool type_is_byte(const struct types *types, uint32_t type);

/* Whether TYPE is a byte, and ACCESS to more that does not count with each: bytes may
 * hold anything, and more than one at a time is something else, or copied. */
bool type_only_bytes(const struct types *types, uint32_t type,
                     const struct type_access *access);

/* 3 where ACCESS, INSIDE bytes behind the start of a number of TYPE, may well be to it, 2
 * where it may be if to nothing else, else 1. */
int access_fit(const struct type *type, uint64_t inside,
               const struct type_access *access);

/* Whether the number that ACCESS shows, INSIDE bytes behind the start of a number of
 * TYPE, is another than that. Neighbours may be read at once, but are not counted with.
 */
bool access_contradicts(const struct type *type, uint64_t inside,
                        const struct type_access *access);

/* Whether MEMBER, a bit-field, has bits in what ACCESS at OFFSET_BYTES of the type that
 * has it touches. */
bool access_in_bits(const struct member *member, uint64_t offset_bytes,
                    const struct type_access *access);

#endif
