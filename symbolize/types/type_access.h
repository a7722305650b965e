/* SPDX-License-Identifier: MIT */
/* How instructions access numbers, and how well the access fits a type. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_ACCESS_H
#define MEMLAG_SYMBOLIZE_TYPE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "type_table.h"

/* The kind of number that the access shows. */
enum access_number {
        NUMBER_ANY,     /* nothing: it may also move a part of a structure */
        NUMBER_INTEGER, /* all bytes of an integer or a pointer */
        NUMBER_FLOATS,  /* one number of floating point, or several smaller ones */
        NUMBER_FLOAT
};

/* How an instruction reads or writes. */
struct type_access {
        uint32_t bytes; /* 0: not known */
        enum access_number number;
        /* NUMBER is an integer, but programs also treat parts of floating point so. */
        bool perhaps_float;
        bool vector;         /* several numbers at once */
        uint32_t item_bytes; /* of each of several numbers; 0: not known */
        /* By an unknown pointer, or with an unproved index. If it leads to bytes, the
         * access may be to several bytes, such as a structure there. */
        bool unproved;
        /* By a pointer to such numbers that may point into the structure around it. */
        bool own_items;
        /* The stride of an index that counts items of the array around the access. 0:
         * none, or it may count something else. */
        uint64_t step_bytes;
        /* The members in the source's expression, see source_expression.h; 0: not known.
         * Where the compiler merged equal accesses, they may belong to only one. */
        uint32_t members;
        bool members_of_one;
};

/* The bytes of one number of TYPE; a complex number counts as two. */
uint64_t type_number_bytes(const struct type *type);

bool type_is_byte(const struct types *types, uint32_t type);

/* Whether TYPE is a byte and ACCESS reads several bytes at once, but not as a vector of
 * bytes. Memory declared as bytes may hold anything. Such an access reads another type or
 * copies. */
bool type_only_bytes(const struct types *types, uint32_t type,
                     const struct type_access *access);

/* 3 if ACCESS, INSIDE bytes behind the start of a number of TYPE, fits it, else 1. */
int access_fit(const struct type *type, uint64_t inside,
               const struct type_access *access);

/* Whether ACCESS shows another kind of number than TYPE, INSIDE bytes behind its start.
 * An instruction may read several neighbours, but does not compute with them as one
 * number. */
bool access_contradicts(const struct type *type, uint64_t inside,
                        const struct type_access *access);

/* Whether ACCESS, at OFFSET_BYTES of MEMBER's type, touches this bit-field's bits. */
bool access_in_bits(const struct member *member, uint64_t offset_bytes,
                    const struct type_access *access);

#endif
