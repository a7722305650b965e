/* SPDX-License-Identifier: MIT */
/* The way into a type to one of its fields, and the field's name. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_PATH_H
#define MEMLAG_SYMBOLIZE_TYPE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "string_pool.h"
#include "type_field.h"
#include "type_table.h"

/* The members on the way, an array after the member that it is the type of. */
struct type_path {
        uint32_t names[TYPE_DEPTH_LIMIT]; /* 0: an array's element */
        uint32_t bases;                   /* a bit of each that is a base class */
        size_t length;
        uint64_t offset_bytes; /* with every index 0 */
        uint32_t type;
        uint64_t size_bytes;
        /* Several members of TYPE that the access fits so share the place at the end. */
        bool shared;
        uint64_t shared_offset_bytes; /* of the place in TYPE */
        int fit;                      /* how well the access fits, from 1; 0: not found */
        bool bits;                    /* the end is a bit-field, or several */
        bool counted;      /* the access's index counts items of an array on the way */
        bool contradicted; /* the access contradicts the field there */
};

/* Continues with NAME, a member's, or 0 for an array's element. False: the path has its
 * full length and stays. */
bool type_path_step(struct type_path *path, uint32_t name);

/* The same into MEMBER, which has a name. Of base classes in base classes the innermost
 * stays. */
bool type_path_enter(struct type_path *path, const struct member *member);

/* Sets *FIELD to what PATH leads to; its name goes into NAMES, and is 0 without a way, or
 * without memory. */
void type_path_field(struct string_pool *names, const struct type_path *path,
                     struct field *field);

/* The name of PATH, to be freed; NULL without memory. */
char *type_path_text(const struct string_pool *names, const struct type_path *path);

/* Calls ADD with CONTEXT for each field of TYPE in the order of offsets as declared,
 * until it returns non-zero, which is returned; else 0. Of an array the first element's
 * fields stand for all. FIELD is ADD's for the call only, its name stays in NAMES. */
typedef int type_add_field(void *context, const struct field *field);
int type_fields(const struct types *types, struct string_pool *names, uint32_t type,
                type_add_field *add, void *context);

/* ---- which of the ways into a type the source names ---- */

/* Paths to members that share their place, and the one that the source names. */
struct type_choice {
        struct type_path way;
        size_t named;   /* how much of its end; 0: none is */
        bool several;   /* are named as well */
        bool first;     /* the source's expression may begin with one */
        bool bits;      /* there are bit-fields */
        unsigned equal; /* numbers of as many bytes as are accessed, or several members */
};

/* Adds WAY, which ACCESS fits, to CHOICE, which begins as {0}. NAMES may be NULL. */
void type_choice_add(struct type_choice *choice, const struct string_pool *names,
                     const struct type_access *access, const struct type_path *way);

/* Whether the source names CHOICE's path. If its members may belong to an equal, merged
 * access, no other path may be equal. */
bool type_choice_made(const struct type_choice *choice, const struct type_access *access);

/* Whether MEMBERS, as source_expression() writes them, name all members of PATH, and none
 * before that PATH's type is in. */
bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members);

/* ---- fields that share their place and fit an access ---- */

struct type_shared {
        struct type_path items[TYPE_SHARED_LIMIT];
        uint32_t count; /* of all, perhaps more than are in ITEMS */
};

/* Sets *FIELD to the fields SHARED, at least one, that fit an access of ACCESS_BYTES;
 * those of that size come first. It begins where the last field begins, for bit-fields
 * the first, and ends with the longest. The name has only the last steps if only these
 * differ: "u.word|half". Otherwise it has whole names: "hs.code|hi.val[]", with a point
 * before those without one, except the first: "f.call|.next". If there are many, a number
 * follows the first: "a|b|4 more"; bit-fields are all listed. */
void type_shared_field(const struct types *types, struct string_pool *names,
                       struct type_shared *shared, uint32_t access_bytes,
                       struct field *field);

#endif
