/* SPDX-License-Identifier: MIT */
/* Fields that share their place, of which an access may be to each. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_SHARED_H
#define MEMLAG_SYMBOLIZE_TYPE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "string_pool.h"
#include "type_field.h"
#include "type_limits.h"
#include "type_path.h"
#include "type_table.h"

struct type_shared {
        struct type_path items[TYPE_SHARED_LIMIT];
        uint32_t count; /* of all, perhaps more than are in ITEMS */
};

/* Whether one of SHARED is a bit-field. */
bool type_shared_bits(const struct type_shared *shared);

/* Sets *FIELD to those of SHARED, one or more, of which an access of ACCESS_BYTES is to
 * one, those of as many bytes first. It begins where the last begins, bit-fields where
 * the first does, and reaches to the end of the longest. The name has the last steps
 * alone where only they differ, "u.word|half", and whole names else, "hs.code|hi.val[]",
 * with a point before those without one, "f.call|.next", unless one is the first. Of many
 * the first are named, and how many more there are: "a|b|4 more"; bit-fields all. */
void type_shared_field(const struct types *types, struct string_pool *names,
                       struct type_shared *shared, uint32_t access_bytes,
                       struct field *field);

#endif
