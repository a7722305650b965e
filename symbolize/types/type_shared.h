/* SPDX-License-Identifier: MIT */
/* Fields that share their place and fit an access. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_SHARED_H
#define MEMLAG_SYMBOLIZE_TYPE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "string_pool.h"
#include "type_field.h"
#include "type_path.h"
#include "type_table.h"

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
