/* SPDX-License-Identifier: MIT */
/* Arrays that grow as they are filled, and are searched in. */
#ifndef MEMLAG_ARRAY_H
#define MEMLAG_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for item number COUNT in the array that *ITEMS (a pointer to the
 * pointer) points to; items keep their values. 0 or -ENOMEM. */
static inline int array_reserve(void *items, size_t *capacity, size_t count,
                                size_t item_bytes)
{
        void *memory;

        if (count < *capacity)
                return 0;
        size_t wanted = count < 16 ? 32 : count + count / 2 + 1;

        if (wanted > SIZE_MAX / item_bytes)
                return -ENOMEM;
        memcpy(&memory, items, sizeof(memory));
        memory = realloc(memory, wanted * item_bytes);
        if (!memory)
                return -ENOMEM;
        memcpy(items, &memory, sizeof(memory));
        *capacity = wanted;
        return 0;
}

/* Returns the number of items that come BEFORE KEY; the items are partitioned, and these
 * come first. */
static inline __attribute__((always_inline)) size_t
array_count_before(const void *items, size_t count, size_t item_bytes,
                   bool (*before)(const void *item, const void *key), const void *key)
{
        size_t low = 0, high = count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (before((const char *)items + middle * item_bytes, key))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

#endif
