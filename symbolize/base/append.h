/* SPDX-License-Identifier: MIT */
/* Arrays that grow at their end, and arrays sorted by a number. */
#ifndef MEMLAG_SYMBOLIZE_APPEND_H
#define MEMLAG_SYMBOLIZE_APPEND_H

#include "array.h"

/* Adds the last argument as an item to ITEMS, which has COUNT items. 0 or -ENOMEM. */
#define APPEND(items, count, capacity, ...)                                              \
        (array_reserve(&(items), &(capacity), (count), sizeof(*(items))) < 0             \
             ? -ENOMEM                                                                   \
             : ((items)[(count)++] = __VA_ARGS__, 0))

/* A growing array of TYPE; zero-initialised: empty. */
#define LIST(type)                                                                       \
        struct {                                                                         \
                type *items;                                                             \
                size_t count;                                                            \
                size_t capacity;                                                         \
        }

/* The same for a LIST, or another structure with its members. */
#define PUSH(list, ...)                                                                  \
        APPEND((list)->items, (list)->count, (list)->capacity, __VA_ARGS__)

/* For comparison functions of qsort() and bsearch(): returns, unless A equals B. */
#define COMPARE(a, b)                                                                    \
        if ((a) != (b))                                                                  \
        return (a) < (b) ? -1 : 1

/* qsort() of ITEMS, which may be NULL where there are none. */
#define SORT(items, count, compare)                                                      \
        do {                                                                             \
                if ((count) > 1)                                                         \
                        qsort((items), (count), sizeof(*(items)), (compare));            \
        } while (0)

/* The following functions are for items that begin with a uint64_t, their key. */

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

static inline bool number_is_up_to(const void *item, const void *key)
{
        return number_order(item, key) <= 0;
}

/* The number of items that begin with less than NUMBER: the index of the first other. */
#define NUMBER_FROM(items, count, number)                                                \
        array_count_before(items, count, sizeof(*(items)), number_is_below,              \
                           &(uint64_t){number})

/* The number of items that begin with NUMBER or less. */
#define NUMBER_UNTIL(items, count, number)                                               \
        array_count_before(items, count, sizeof(*(items)), number_is_up_to,              \
                           &(uint64_t){number})

/* The item that begins with NUMBER, or NULL. */
#define NUMBER_FIND(items, count, number)                                                \
        ((count) > 0 ? bsearch(&(uint64_t){number}, items, count, sizeof(*(items)),      \
                               number_order)                                             \
                     : NULL)

#endif
