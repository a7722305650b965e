/* SPDX-License-Identifier: MIT */
/* Tells blocks of one source line apart: by their types, where it allocates several
 * types, and by their columns, where it allocates one type several times. */
#ifndef MEMLAG_SYMBOLIZE_SITE_TYPE_H
#define MEMLAG_SYMBOLIZE_SITE_TYPE_H

#include "block_type.h"
#include "site.h"

/* What tells. */
struct site_types {
        const struct types *types;
        const struct block_type *blocks; /* of raw's stacks */
        struct string_pool *names;
};

/* Adds the type to the names of SITES where another site of the same function and line
 * has another type. Adds the column where another site has the same type, or an unknown
 * one, and another column. SITES are COUNT of raw's stacks; USED says which of them
 * allocated. Types that samples contradict do not count. 0 or -ENOMEM. */
int site_types_name(const struct site_types *from, struct site *sites, const bool *used,
                    size_t count);

#endif
