/* SPDX-License-Identifier: MIT */
/* A hash table of positions in an array. It stores hashes and positions; the owner of the
 * array compares the items. */
#ifndef MEMLAG_SYMBOLIZE_HASH_INDEX_H
#define MEMLAG_SYMBOLIZE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "append.h"

#define HASH_INDEX_NONE UINT32_MAX

struct hash_slot {
        uint32_t hash;
        uint32_t position; /* HASH_INDEX_NONE: empty */
};

/* Zero-initialised: empty. */
struct hash_index {
        struct hash_slot *slots;
        size_t size; /* a power of two */
        size_t count;
};

typedef bool hash_index_equal(const void *context, const void *key, uint32_t position);

/* The position stored for KEY, or HASH_INDEX_NONE. */
uint32_t hash_index_find(const struct hash_index *index, uint32_t hash,
                         hash_index_equal *equal, const void *context, const void *key);

/* The same for the NUMBER that the item begins with, by hash_number(0, NUMBER). */
uint32_t hash_index_number(const struct hash_index *index, const void *items,
                           size_t item_bytes, uint64_t number);

/* Stores POSITION under HASH; the key must not be there yet. 0 or -ENOMEM. */
int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t position);

/* A list with an index of its items; zero-initialised: empty. */
#define HASHED(type)                                                                     \
        struct {                                                                         \
                type *items;                                                             \
                size_t count;                                                            \
                size_t capacity;                                                         \
                struct hash_index index;                                                 \
        }

/* The position of the item of LIST that begins with NUMBER, as above. */
#define HASH_NUMBER(list, number)                                                        \
        hash_index_number(&(list)->index, (list)->items, sizeof(*(list)->items), number)

/* Adds the last argument as an item, with HASH, to LIST. 0 or -ENOMEM. */
#define HASH_PUSH(list, hash, ...)                                                       \
        ((list)->count >= HASH_INDEX_NONE || PUSH(list, __VA_ARGS__) < 0                 \
             ? -ENOMEM                                                                   \
             : hash_index_add(&(list)->index, hash, (uint32_t)(list)->count - 1))

/* Adds the item KEY if it is new, and sets *AT to its position. Evaluates its arguments
 * twice. 0 or -ENOMEM. */
#define HASH_PUT(list, hash, equal, context, key, at)                                    \
        ((*(at) = hash_index_find(&(list)->index, hash, equal, context, key)) !=         \
                 HASH_INDEX_NONE                                                         \
             ? 0                                                                         \
             : (*(at) = (uint32_t)(list)->count, HASH_PUSH(list, hash, *(key))))

#define HASH_FREE(list) (free((list)->items), hash_index_free(&(list)->index))

void hash_index_free(struct hash_index *index);

/* A well-mixed hash of BYTES bytes, and of a number added to a hash. */
uint32_t hash_bytes(const void *data, size_t bytes);
uint32_t hash_number(uint32_t hash, uint64_t number);

#endif
