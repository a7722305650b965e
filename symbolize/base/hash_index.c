/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most half full. */
#include "hash_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        return hash ^ (hash >> 32);
}

/* Eight bytes at a time: names of C++ are long. */
uint32_t hash_bytes(const void *data, size_t bytes)
{
        const unsigned char *at = data;
        uint64_t hash = bytes, word;

        for (; bytes > sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
                memcpy(&word, at, sizeof(word));
                hash = mix(hash, word);
        }
        word = 0;
        memcpy(&word, at, bytes);
        return (uint32_t)mix(hash, word);
}

uint32_t hash_number(uint32_t hash, uint64_t number)
{
        uint64_t x = (number ^ ((uint64_t)hash << 32 | hash)) * 0x9e3779b97f4a7c15u;

        return (uint32_t)(x ^ (x >> 29) ^ (x >> 47));
}

uint32_t hash_index_find(const struct hash_index *index, uint32_t hash,
                         hash_index_equal *equal, const void *context, const void *key)
{
        if (index->size == 0)
                return HASH_INDEX_NONE;
        for (size_t i = hash & (index->size - 1);; i = (i + 1) & (index->size - 1)) {
                const struct hash_slot *slot = &index->slots[i];

                if (slot->position == HASH_INDEX_NONE)
                        return HASH_INDEX_NONE;
                if (slot->hash == hash && equal(context, key, slot->position))
                        return slot->position;
        }
}

struct numbered {
        const char *items;
        size_t item_bytes;
};

static bool begins_with(const void *context, const void *number, uint32_t position)
{
        const struct numbered *of = context;

        return memcmp(of->items + position * of->item_bytes, number, sizeof(uint64_t)) ==
               0;
}

uint32_t hash_index_number(const struct hash_index *index, const void *items,
                           size_t item_bytes, uint64_t number)
{
        const struct numbered of = {items, item_bytes};

        return hash_index_find(index, hash_number(0, number), begins_with, &of, &number);
}

static void insert(struct hash_index *index, uint32_t hash, uint32_t position)
{
        size_t i = hash & (index->size - 1);

        while (index->slots[i].position != HASH_INDEX_NONE)
                i = (i + 1) & (index->size - 1);
        index->slots[i] = (struct hash_slot){hash, position};
        index->count++;
}

static int grow(struct hash_index *index)
{
        struct hash_index larger = {.size = index->size ? index->size * 2 : 64};

        larger.slots = calloc(larger.size, sizeof(*larger.slots));
        if (!larger.slots)
                return -ENOMEM;
        for (size_t i = 0; i < larger.size; i++)
                larger.slots[i].position = HASH_INDEX_NONE;
        for (size_t i = 0; i < index->size; i++)
                if (index->slots[i].position != HASH_INDEX_NONE)
                        insert(&larger, index->slots[i].hash, index->slots[i].position);
        free(index->slots);
        *index = larger;
        return 0;
}

int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t position)
{
        if (index->count * 2 >= index->size && grow(index) < 0)
                return -ENOMEM;
        insert(index, hash, position);
        return 0;
}

void hash_index_free(struct hash_index *index)
{
        free(index->slots);
        *index = (struct hash_index){0};
}
