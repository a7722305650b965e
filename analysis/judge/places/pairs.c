/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing over an array. Knows nothing of samples. */
#include "pairs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scatter.h"

static size_t slot_of(const struct pairs *pairs, uint32_t first, uint32_t second)
{
        uint64_t key = (uint64_t)first << 32 | second;
        size_t slot = scatter_slot(key, pairs->multiplier, pairs->slot_count);
        while (pairs->slots[slot]) {
                const struct pair *pair = &pairs->pairs[pairs->slots[slot] - 1];
                if (pair->first == first && pair->second == second)
                        break;
                slot = (slot + 1) & (pairs->slot_count - 1);
        }
        return slot;
}

/* Doubles the slots and inserts every pair again. */
static int grow_slots(struct pairs *pairs)
{
        size_t slot_count = pairs->slot_count ? 2 * pairs->slot_count : 256;
        uint32_t *slots = calloc(slot_count, sizeof(*slots));
        if (!slots)
                return -1;
        free(pairs->slots);
        pairs->slots = slots;
        pairs->slot_count = slot_count;
        pairs->multiplier = scatter_multiplier();
        for (size_t i = 0; i < pairs->count; i++)
                slots[slot_of(pairs, pairs->pairs[i].first, pairs->pairs[i].second)] =
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
        if (pairs->value_bytes) {
                void *values = reallocarray(pairs->values, capacity, pairs->value_bytes);
                if (!values)
                        return -1;
                pairs->values = values;
        }
        pairs->capacity = capacity;
        return 0;
}

uint32_t pairs_place(struct pairs *pairs, uint32_t first, uint32_t second)
{
        if (2 * pairs->count >= pairs->slot_count && grow_slots(pairs))
                return UINT32_MAX;
        size_t slot = slot_of(pairs, first, second);
        if (pairs->slots[slot])
                return pairs->slots[slot] - 1;
        if (pairs->count == UINT32_MAX - 1 ||
            (pairs->count == pairs->capacity && grow_pairs(pairs)))
                return UINT32_MAX;
        pairs->pairs[pairs->count] = (struct pair){.first = first, .second = second};
        if (pairs->value_bytes)
                memset(pairs_value(pairs, pairs->count), 0, pairs->value_bytes);
        pairs->slots[slot] = (uint32_t)++pairs->count;
        return pairs->slots[slot] - 1;
}

void *pairs_value(const struct pairs *pairs, size_t index)
{
        return (char *)pairs->values + index * pairs->value_bytes;
}

void *pairs_get(struct pairs *pairs, uint32_t first, uint32_t second)
{
        uint32_t place = pairs_place(pairs, first, second);
        return place == UINT32_MAX ? NULL : pairs_value(pairs, place);
}

struct placed_pair {
        struct pair pair;
        uint32_t place;
};

static int compare_pairs(const void *a, const void *b)
{
        const struct pair *x = &((const struct placed_pair *)a)->pair;
        const struct pair *y = &((const struct placed_pair *)b)->pair;
        if (x->first != y->first)
                return x->first < y->first ? -1 : 1;
        return (x->second > y->second) - (x->second < y->second);
}

/* Copies pairs and values in the order of SORTED, the values into VALUES. */
static void take_order(struct pairs *pairs, const struct placed_pair *sorted,
                       void *values)
{
        const size_t bytes = pairs->value_bytes;
        for (size_t i = 0; i < pairs->count; i++) {
                pairs->pairs[i] = sorted[i].pair;
                if (bytes)
                        memcpy((char *)values + i * bytes,
                               pairs_value(pairs, sorted[i].place), bytes);
        }
        free(pairs->values);
        pairs->values = values;
        pairs->capacity = pairs->count;
}

int pairs_sort(struct pairs *pairs)
{
        if (!pairs->count)
                return 0;
        struct placed_pair *sorted = calloc(pairs->count, sizeof(*sorted));
        void *values =
            pairs->value_bytes ? calloc(pairs->count, pairs->value_bytes) : NULL;
        bool enough = sorted && (values || !pairs->value_bytes);
        if (enough) {
                for (size_t i = 0; i < pairs->count; i++)
                        sorted[i] = (struct placed_pair){pairs->pairs[i], (uint32_t)i};
                qsort(sorted, pairs->count, sizeof(*sorted), compare_pairs);
                take_order(pairs, sorted, values);
        } else {
                free(values);
        }
        free(sorted);
        return enough ? 0 : -ENOMEM;
}

void pairs_free(struct pairs *pairs)
{
        free(pairs->pairs);
        free(pairs->values);
        free(pairs->slots);
}
