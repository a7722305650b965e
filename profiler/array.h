/* SPDX-License-Identifier: MIT */
/* Arrays that grow as they are filled. */
#ifndef MEMLAG_ARRAY_H
#define MEMLAG_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* ARRAY of COUNT elements of SIZE bytes, moved where it must be so that one more has
 * room. NULL: no memory; ARRAY stays as it is. */
static inline void *array_grown(void *array, size_t count, size_t *capacity, size_t size)
{
        if (count < *capacity)
                return array;
        size_t more = *capacity * 2 + 16;
        void *larger = reallocarray(array, more, size);
        if (larger)
                *capacity = more;
        return larger;
}

#endif
