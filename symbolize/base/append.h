/* SPDX-License-Identifier: MIT */
/* Arrays that grow at their end, and arrays in the order of a number. */
#ifndef MEMLAG_SYMBOLIZE_APPEND_H
#define MEMLAG_SYMBOLIZE_APPEND_H

#include "array.h"

/* Adds the item that is the last argument to ITEMS, of which there are COUNT. 0 or
 * -ENOMEM. */
#define APPEND(items, count, capacity, ...)                                              \
        (array_reserve(&(items), &(capacity), (count), sizeof(*(items))) < 0             \
             ? -ENOMEM                                                                   \
             : ((items)[(count)++] = __VA_ARGS__, 0))

/* The same for a LIST with the members items, count and capacity. */
#define PUSH(list, ...)                                                                  \
        APPEND((list)->items, (list)->count, (list)->capacity, __VA_ARGS__)

/* The following is for items that begin with a uint64_t, by which they are ordered. */

/* For qsort() and bsearch(). */
static inline int number_order(const void *left, const void *right)
{
        uint64_t a, b;

        memcpy(&a, left, sizeof(a));
        memcpy(&b, right, sizeof(b));
        return a < b ? -1 : a > b;
}

static inline bool number_is_below(const void *item, const void *key)
{
        return number_order(item, key) < 0;
}

/* The first of COUNT items that begins with NUMBER or more. */
static inline size_t number_from(const void *items, size_t count, size_t item_bytes,
                                 uint64_t number)
{
        return array_count_before(items, count, item_bytes, number_is_below, &number);
}

/* The item that begins with NUMBER, or NULL. */
static inline const void *number_find(const void *items, size_t count, size_t item_bytes,
                                      uint64_t number)
{
        return count > 0 ? bsearch(&number, items, count, item_bytes, number_order)
                         : NULL;
}

#endif
