/* SPDX-License-Identifier: MIT */
/* Distinguishes blocks allocated in one source line: by their types if it allocates
 * several types, by their columns if it allocates one type several times. */
#ifndef MEMLAG_SYMBOLIZE_SITE_TYPE_H
#define MEMLAG_SYMBOLIZE_SITE_TYPE_H

#include "block_type.h"
#include "site.h"

/* The evidence. */
struct site_types {
        const struct types *types;
        const struct block_type *blocks; /* of raw's stacks */
        struct string_pool *names;
};

/* Adds the type to the names of SITES where another site of the same function and line
 * has another type. Adds the column where another site has the same type, or an unknown
 * one, and another column. SITES are COUNT stacks of RAW; USED marks the stacks that
 * allocated. Types that samples contradict do not count. 0 or -ENOMEM. */
int site_types_name(const struct site_types *from, struct site *sites, const bool *used,
                    size_t count);

#endif
