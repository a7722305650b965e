/* SPDX-License-Identifier: MIT */
/* The data types of a program as plain tables: sizes, members, and which field lies at
 * an offset. Knows nothing of DWARF; names are numbers of a string pool. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_H
#define MEMLAG_SYMBOLIZE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"
#include "string_pool.h"

#define TYPE_NONE UINT32_MAX

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
        bool base;           /* a class, named where its fields' names do not suffice */
};

struct type {
        enum type_kind kind;
        uint32_t name;
        uint64_t size_bytes;
        uint32_t element;    /* of an array */
        bool is_complex;     /* of floating point: two numbers of half the size */
        bool partial;        /* a struct or union with members that are not listed */
        uint64_t items;      /* of an array; 0: not known, as at the end of a struct */
        size_t first_member; /* of a struct or union, in types.members */
        uint32_t member_count;
        /* The first type that looks the same from outside: name, size and members.
         * Pointers count as the same when they are spelled the same. */
        uint32_t canonical;
};

struct types {
        struct type *items;
        size_t count;
        size_t capacity;
        struct member *members;
        size_t member_count;
        size_t member_capacity;
        struct hash_index index; /* of canonical types */
};

/* Adds TYPE with MEMBERS (member_count of them, copied; first_member and canonical are
 * set here). The id goes to *ID. 0 or -ENOMEM. */
int types_put(struct types *types, const struct type *type, const struct member *members,
              uint32_t *id);
void types_free(struct types *types);

/* What is known of the number that is accessed, from the least on. */
enum access_number {
        NUMBER_ANY,     /* nothing: it may also be moved as a part of a structure */
        NUMBER_BITS,    /* some bits of an integer or a pointer, or a bit-field */
        NUMBER_LOW,     /* an integer or a pointer, or the low bytes of a wider integer */
        NUMBER_INTEGER, /* or a pointer */
        NUMBER_FLOATS,  /* one number of floating point, or several smaller ones */
        NUMBER_FLOAT
};

/* How an instruction reads or writes. */
struct type_access {
        uint32_t bytes; /* 0: not known */
        enum access_number number;
        bool vector;   /* several numbers at once */
        uint64_t bits; /* of these, that are used, from the lowest on; 0: all */
};

enum field_outcome {
        FIELD_FOUND,
        FIELD_WHOLE,   /* the type has no fields: a number or a pointer */
        FIELD_PADDING, /* nothing lies there */
        FIELD_BEYOND,  /* outside of the type */
        FIELD_OPAQUE,  /* the type is not known inside */
        FIELD_OTHER    /* what the access shows of the number is not so of the field */
};

/* What lies at an offset. Array indexes are left out: NAME is "a.b[].c", and
 * offset_bytes is the place that all of these have in common, with every index 0.
 * Where members share their place and the access fits several, NAME has them all:
 * "u.word|half". Fields of a base class whose names others of the type have, too, are
 * told with the class, the innermost of several: "Base::a". */
struct field {
        uint32_t name; /* 0 unless FOUND */
        uint32_t type;
        uint64_t offset_bytes;
        uint64_t size_bytes;
        bool shared; /* NAME has several members */
};

/* Whether TYPE is a byte, and ACCESS to more: bytes may hold anything, and more than one
 * at a time is surely something else. */
bool type_only_bytes(const struct types *types, uint32_t type,
                     const struct type_access *access);

/* Finds the field of TYPE at OFFSET_BYTES that ACCESS fits best. Of a structure that
 * begins with bytes and is copied in larger pieces it is the structure. */
enum field_outcome type_field(const struct types *types, struct string_pool *names,
                              uint32_t type, uint64_t offset_bytes,
                              const struct type_access *access, struct field *field);

/* The type of what lies there, without its name; TYPE_NONE when nothing does, or more
 * than one thing. */
uint32_t type_part(const struct types *types, uint32_t type, uint64_t offset_bytes,
                   const struct type_access *access);

/* Whether STRIDE_BYTES further from OFFSET_BYTES in TYPE the same lies again: in the
 * next item of an array that the offset is in, or of an array of TYPE itself. */
bool type_repeats(const struct types *types, uint32_t type, uint64_t offset_bytes,
                  uint64_t stride_bytes);

/* Whether ACCESS shows a number that what lies there cannot be: of floating point where
 * an integer is, or the other way, or of more bytes. Nothing is known where several
 * members lie. */
bool type_contradicted(const struct types *types, uint32_t type, uint64_t offset_bytes,
                       const struct type_access *access);

enum index_outcome {
        INDEX_OPEN,    /* it may lead to several fields, or to none that is known */
        INDEX_FOUND,   /* to one field only */
        INDEX_SHIFTED, /* the same, but OFFSET_BYTES is up to one item before its array */
};

/* Which field an index that is any multiple of STRIDE_BYTES (at least 1) leads to from
 * OFFSET_BYTES in TYPE: of TYPE itself, when whole ones are counted, or of the arrays in
 * it whose items may be (the index may be a multiple of more), and have room for the
 * ACCESS_BYTES (0: any) that are read. The field's place, with every index 0, goes to
 * *FOUND. */
enum index_outcome type_indexed(const struct types *types, uint32_t type,
                                int64_t offset_bytes, uint64_t stride_bytes,
                                uint64_t access_bytes, uint64_t *found);

/* Finds the outermost array of TYPE that OFFSET_BYTES lies in, which goes from *LOW to
 * *HIGH, the first byte after it. False: in none. */
bool type_array_around(const struct types *types, uint32_t type, uint64_t offset_bytes,
                       uint64_t *low, uint64_t *high);

/* Whether an INNER begins at OFFSET_BYTES in OUTER. */
bool type_holds(const struct types *types, uint32_t outer, uint64_t offset_bytes,
                uint32_t inner);

/* Calls ADD for each field of TYPE in the order of offsets as declared, until it
 * returns non-zero, which is returned. Of an array the first element's fields stand
 * for all. */
typedef int type_add_field(void *context, const struct field *field);
int type_fields(const struct types *types, struct string_pool *names, uint32_t type,
                type_add_field *add, void *context);

/* Whether the last field of TYPE is an array that goes on after the end. */
bool type_open_ended(const struct types *types, uint32_t type);

#endif
