/* SPDX-License-Identifier: MIT */
/* An array, and an index into it. */
#include "keyed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"

int keyed_open(struct keyed *keyed, size_t item_bytes)
{
        *keyed = (struct keyed){.index = context_intern_new(), .item_bytes = item_bytes};
        return keyed->index ? 0 : -ENOMEM;
}

void keyed_close(struct keyed *keyed)
{
        context_intern_free(keyed->index);
        free(keyed->items);
        *keyed = (struct keyed){.index = NULL};
}

void *keyed_at(const struct keyed *keyed, size_t index)
{
        return (char *)keyed->items + index * keyed->item_bytes;
}

void *keyed_find(const struct keyed *keyed, uint64_t a, uint64_t b)
{
        int64_t number = context_intern_find(keyed->index, a, b);
        return number ? keyed_at(keyed, (size_t)number - 1) : NULL;
}

void *keyed_place(struct keyed *keyed, uint64_t a, uint64_t b, bool *new)
{
        struct context_node *node = context_intern_place(keyed->index, a, b);
        if (!node)
                return NULL;
        *new = node->id == 0;
        if (*new) {
                if (array_reserve(&keyed->items, &keyed->capacity, keyed->count,
                                  keyed->item_bytes) < 0)
                        return NULL;
                memset(keyed_at(keyed, keyed->count), 0, keyed->item_bytes);
                node->id = (int64_t)++keyed->count;
        }
        return keyed_at(keyed, (size_t)node->id - 1);
}
