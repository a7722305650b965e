/* SPDX-License-Identifier: MIT */
/* The path into a type to one of its fields, and the field's name. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_PATH_H
#define MEMLAG_SYMBOLIZE_TYPE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "string_pool.h"
#include "type_field.h"
#include "type_table.h"

/* The members on the path. An array follows the member whose type it is. */
struct type_path {
        uint32_t names[TYPE_DEPTH_LIMIT]; /* 0: an array's element */
        uint32_t bases;                   /* a bit for each member that is a base class */
        size_t length;
        uint64_t offset_bytes; /* with every index 0 */
        uint32_t type;
        uint64_t size_bytes;
        /* Several overlapping members of TYPE at the end fit the access equally well. */
        bool shared;
        uint64_t shared_offset_bytes; /* of the place in TYPE */
        int fit;                      /* of the access, from 1; 0: not found */
        bool bits;                    /* the end is a bit-field, or several */
        bool counted;      /* the access's index counts items of an array on the path */
        bool contradicted; /* the access contradicts the field there */
};

/* Appends NAME, a member's, or 0 for an array's element. False: the path has its full
 * length and stays. */
bool type_path_step(struct type_path *path, uint32_t name);

/* Appends MEMBER, which has a name. Of nested base classes the innermost stays. */
bool type_path_enter(struct type_path *path, const struct member *member);

/* Sets *FIELD to the end of PATH. Its name goes into NAMES; it is 0 if the path is empty
 * or memory is short. */
void type_path_field(struct string_pool *names, const struct type_path *path,
                     struct field *field);

/* The name of PATH; the caller frees it. NULL without memory. */
char *type_path_text(const struct string_pool *names, const struct type_path *path);

/* Calls ADD with CONTEXT for each field of TYPE, by offset and then by declaration. Stops
 * when ADD returns non-zero, and returns that; else 0. The first element's fields stand
 * for a whole array. FIELD is valid during the call, its name stays in NAMES. */
typedef int type_add_field(void *context, const struct field *field);
int type_fields(const struct types *types, struct string_pool *names, uint32_t type,
                type_add_field *add, void *context);

/* ---- the path that the source names ---- */

/* Paths to overlapping members, and the path that the source names. */
struct type_choice {
        struct type_path way;
        size_t named;   /* length of its end that is named; 0: none */
        bool several;   /* others are named as well */
        bool first;     /* the source's expression may begin with such a path */
        bool bits;      /* there are bit-fields */
        unsigned equal; /* numbers of the access's size, or several members */
};

/* Adds WAY, which fits ACCESS, to CHOICE, which begins as {0}. NAMES may be NULL. */
void type_choice_add(struct type_choice *choice, const struct string_pool *names,
                     const struct type_access *access, const struct type_path *way);

/* Whether the source names CHOICE's path. If its members may belong to an equal, merged
 * access, no other path may be equal. */
bool type_choice_made(const struct type_choice *choice, const struct type_access *access);

/* Whether MEMBERS, in the format of source_expression(), name all members of PATH, and no
 * member around PATH's type. */
bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members);

/* ---- overlapping fields that fit an access ---- */

struct type_shared {
        struct type_path items[TYPE_SHARED_LIMIT];
        uint32_t count; /* of all, perhaps more than ITEMS has */
};

/* Sets *FIELD to the fields SHARED, at least one, that fit an access of ACCESS_BYTES.
 * Fields of that size come first. It begins where the last field begins, for bit-fields
 * the first, and ends with the longest. The name has only the last steps if only these
 * differ: "u.word|half". Otherwise it has whole names: "hs.code|hi.val[]", with a point
 * before a name that has none, except the first: "f.call|.next". If there are many, a
 * number follows the first: "a|b|4 more"; bit-fields are all listed. */
void type_shared_field(const struct types *types, struct string_pool *names,
                       struct type_shared *shared, uint32_t access_bytes,
                       struct field *field);

#endif
