/* SPDX-License-Identifier: MIT */
/* Interned names, found by hash; their bytes lie behind each other in large pieces. */
#include "string_pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"

/* Memory for texts. A long text has a separate piece. */
struct piece {
        struct piece *before;
        size_t bytes_left;
        char bytes[];
};

enum { PIECE_BYTES = 1 << 16 };

struct text {
        const char *bytes;
        uint32_t hash;
};

struct string_pool {
        struct text *texts;
        size_t count;
        size_t capacity;
        struct hash_index index;
        struct piece *piece; /* the latest */
        char *free;          /* in it */
        int error;
};

struct string_pool *string_pool_new(void)
{
        return calloc(1, sizeof(struct string_pool));
}

void string_pool_free(struct string_pool *pool)
{
        if (!pool)
                return;
        for (struct piece *piece = pool->piece, *before; piece; piece = before) {
                before = piece->before;
                free(piece);
        }
        free(pool->texts);
        hash_index_free(&pool->index);
        free(pool);
}

static bool same_text(const void *context, const void *key, uint32_t position)
{
        const struct string_pool *pool = context;

        return strcmp(pool->texts[position].bytes, key) == 0;
}

/* Room for BYTES; NULL when out of memory. */
static char *take_room(struct string_pool *pool, size_t bytes)
{
        if (!pool->piece || bytes > pool->piece->bytes_left) {
                size_t room = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
                struct piece *piece = malloc(sizeof(*piece) + room);

                if (!piece)
                        return NULL;
                piece->before = pool->piece;
                piece->bytes_left = room;
                pool->piece = piece;
                pool->free = piece->bytes;
        }
        char *taken = pool->free;

        pool->free += bytes;
        pool->piece->bytes_left -= bytes;
        return taken;
}

static uint32_t add(struct string_pool *pool, const char *text, uint32_t hash)
{
        size_t bytes = strlen(text) + 1;

        if (pool->count >= UINT32_MAX - 1 ||
            array_reserve(&pool->texts, &pool->capacity, pool->count,
                          sizeof(*pool->texts)) < 0)
                return 0;
        char *copy = take_room(pool, bytes);

        if (!copy || hash_index_add(&pool->index, hash, (uint32_t)pool->count) < 0)
                return 0;
        pool->texts[pool->count++] = (struct text){memcpy(copy, text, bytes), hash};
        return (uint32_t)pool->count;
}

static uint32_t put(struct string_pool *pool, const char *text, uint32_t hash)
{
        uint32_t position = hash_index_find(&pool->index, hash, same_text, pool, text);

        if (position != HASH_INDEX_NONE)
                return position + 1;
        uint32_t id = add(pool, text, hash);

        if (!id)
                pool->error = -ENOMEM;
        return id;
}

uint32_t string_pool_put(struct string_pool *pool, const char *text)
{
        return text ? put(pool, text, hash_bytes(text, strlen(text))) : 0;
}

uint32_t string_pool_format(struct string_pool *pool, const char *format, ...)
{
        char *text;
        va_list arguments;

        va_start(arguments, format);
        int length = vasprintf(&text, format, arguments);

        va_end(arguments);
        if (length < 0) {
                pool->error = -ENOMEM;
                return 0;
        }
        uint32_t id = put(pool, text, hash_bytes(text, (size_t)length));

        free(text);
        return id;
}

int string_pool_failed(const struct string_pool *pool)
{
        return pool->error;
}

void string_pool_recover(struct string_pool *pool)
{
        pool->error = 0;
}

size_t string_pool_count(const struct string_pool *pool)
{
        return pool->count;
}

const char *string_pool_text(const struct string_pool *pool, uint32_t id)
{
        return id ? pool->texts[id - 1].bytes : NULL;
}
