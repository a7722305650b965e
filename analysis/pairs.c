/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing over an array. Knows nothing of samples. */
#include "pairs.h"

#include <stdlib.h>

static size_t slot_of(const struct pairs *pairs, uint32_t line, uint32_t object)
{
        uint64_t key = (uint64_t)line << 32 | object;
        /* Fibonacci hashing: the product's high bits depend on all of the key's. */
        size_t slot = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (pairs->slot_count - 1);
        while (pairs->slots[slot]) {
                const struct pair *pair = &pairs->pairs[pairs->slots[slot] - 1];
                if (pair->line == line && pair->object == object)
                        break;
                slot = (slot + 1) & (pairs->slot_count - 1);
        }
        return slot;
}

/* Doubles the slots and puts every pair into its new one. */
static int grow_slots(struct pairs *pairs)
{
        size_t slot_count = pairs->slot_count ? 2 * pairs->slot_count : 256;
        uint32_t *slots = calloc(slot_count, sizeof(*slots));
        if (!slots)
                return -1;
        free(pairs->slots);
        pairs->slots = slots;
        pairs->slot_count = slot_count;
        for (size_t i = 0; i < pairs->count; i++)
                slots[slot_of(pairs, pairs->pairs[i].line, pairs->pairs[i].object)] =
                    (uint32_t)i + 1;
        return 0;
}

static int grow_pairs(struct pairs *pairs)
{
        size_t capacity = pairs->capacity ? 2 * pairs->capacity : 128;
        struct pair *grown = reallocarray(pairs->pairs, capacity, sizeof(*grown));
        if (!grown)
                return -1;
        pairs->pairs = grown;
        pairs->capacity = capacity;
        return 0;
}

struct tally *pairs_get(struct pairs *pairs, uint32_t line, uint32_t object)
{
        if (2 * pairs->count >= pairs->slot_count && grow_slots(pairs))
                return NULL;
        size_t slot = slot_of(pairs, line, object);
        if (pairs->slots[slot])
                return &pairs->pairs[pairs->slots[slot] - 1].tally;
        if (pairs->count == pairs->capacity && grow_pairs(pairs))
                return NULL;
        pairs->pairs[pairs->count] = (struct pair){.line = line, .object = object};
        pairs->slots[slot] = (uint32_t)++pairs->count;
        return &pairs->pairs[pairs->count - 1].tally;
}

static int compare_pairs(const void *a, const void *b)
{
        const struct pair *x = a, *y = b;
        if (x->line != y->line)
                return x->line < y->line ? -1 : 1;
        return (x->object > y->object) - (x->object < y->object);
}

void pairs_sort(struct pairs *pairs)
{
        if (pairs->count)
                qsort(pairs->pairs, pairs->count, sizeof(*pairs->pairs), compare_pairs);
}

void pairs_free(struct pairs *pairs)
{
        free(pairs->pairs);
        free(pairs->slots);
}
