/* SPDX-License-Identifier: MIT */
/* Tells the blocks of one source line apart by what they were allocated as, where that is
 * more than one type, and by their columns, where one type has several: a constructor's
 * vectors, which it all makes in its first line. */
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

/* Adds the type to the names of those of SITES, COUNT of raw's stacks of which USED says
 * whether blocks were allocated there, whose function and line is that of another one
 * with another type, and the column where it is that of another one with another column
 * and the same type, or where the type of either is not known. Types that samples
 * contradict tell nothing. 0 or -ENOMEM. */
int site_types_name(const struct site_types *from, struct site *sites, const bool *used,
                    size_t count);

#endif
