/* SPDX-License-Identifier: MIT */
/* A program's data types as plain tables: sizes, members, and which types look the same.
 * Knows no DWARF; names are numbers of a string pool. Ids are indexes of types.items;
 * invalid ids count as types of no size. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_TABLE_H
#define MEMLAG_SYMBOLIZE_TYPE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"
#include "string_pool.h"

#define TYPE_NONE UINT32_MAX

/* Limits for nested types: a file may nest them without end. */
enum {
        TYPE_DEPTH_LIMIT = 32,    /* members on the path to a field */
        TYPE_NESTING_LIMIT = 256, /* types in types, also without a name */
        TYPE_SHARED_LIMIT = 64,   /* overlapping fields that get names */
        TYPE_FIELDS_LIMIT = 4096, /* listed of a type, or reached by an index */
        TYPE_WORK_LIMIT = 65536   /* types looked at for one question */
};

enum type_kind {
        TYPE_OPAQUE, /* void, functions, declared only: nothing is known inside */
        TYPE_INTEGER,
        TYPE_FLOAT,
        TYPE_POINTER,
        TYPE_STRUCT,
        TYPE_UNION,
        TYPE_ARRAY
};

struct member {
        uint32_t name; /* 0: its fields are used directly */
        uint32_t type;
        uint64_t offset_bytes;
        uint32_t bit_offset; /* from offset_bytes on */
        uint32_t bit_size;   /* 0: no bit-field */
        bool base; /* a base class, named where its fields' names are ambiguous */
};

struct type {
        enum type_kind kind;
        uint32_t name;
        uint64_t size_bytes;
        uint32_t element;    /* of an array */
        bool is_complex;     /* of floating point: two numbers of half the size */
        bool is_vector;      /* an array that compilers treat as one number */
        bool partial;        /* a struct or union with members that are not listed */
        uint64_t items;      /* of an array; 0: not known, as at the end of a struct */
        size_t first_member; /* of a struct or union, in types.members */
        uint32_t member_count;
        /* The first type with the same name, size and members. Pointers are equal if
         * their spelling is. */
        uint32_t canonical;
};

struct types {
        LIST(struct type);
        struct member *members;
        size_t member_count;
        size_t member_capacity;
        struct hash_index index; /* of canonical types */
};

/* Adds TYPE with MEMBERS (copies member_count; sets first_member and canonical). *ID
 * becomes its id. 0 or -ENOMEM. */
int types_put(struct types *types, const struct type *type, const struct member *members,
              uint32_t *id);
/* Frees the tables of TYPES, which can be filled again. */
void types_free(struct types *types);

/* The size of TYPE; 0: none, or unknown. */
uint64_t type_size(const struct types *types, uint32_t type);

/* Its kind; TYPE_OPAQUE if there is no such type. */
enum type_kind type_kind(const struct types *types, uint32_t type);

/* Whether TYPE is a number or a pointer. */
bool type_is_single(const struct types *types, uint32_t type);

/* Whether TYPE is a struct or union. */
bool type_has_fields(const struct types *types, uint32_t type);

/* Whether A and B have one canonical type. */
bool type_same(const struct types *types, uint32_t a, uint32_t b);

/* Whether member INDEX of TYPE, a struct or union, contains OFFSET_BYTES. A flexible
 * array at the end has no limit. */
bool type_in_member(const struct types *types, const struct type *type, uint32_t index,
                    uint64_t offset_bytes);

/* Whether the last field of TYPE is a flexible array. */
bool type_open_ended(const struct types *types, uint32_t type);
/* The same; also finds the array's start and item type. */
bool type_open_array(const struct types *types, uint32_t type, uint64_t *offset_bytes,
                     uint32_t *item);

#endif
