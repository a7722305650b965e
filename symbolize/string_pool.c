/* SPDX-License-Identifier: MIT */
/* Interned names: one allocation each, found by hash. */
#include "string_pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"

struct string_pool {
        char **texts;
        size_t count;
        size_t capacity;
        struct hash_index index;
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
        for (size_t i = 0; i < pool->count; i++)
                free(pool->texts[i]);
        free(pool->texts);
        hash_index_free(&pool->index);
        free(pool);
}

static bool same_text(const void *context, const void *key, uint32_t position)
{
        const struct string_pool *pool = context;

        return strcmp(pool->texts[position], key) == 0;
}

static uint32_t add(struct string_pool *pool, const char *text, uint32_t hash)
{
        if (pool->count >= UINT32_MAX - 1 ||
            array_reserve(&pool->texts, &pool->capacity, pool->count,
                          sizeof(*pool->texts)) < 0)
                return 0;
        char *copy = strdup(text);

        if (!copy)
                return 0;
        if (hash_index_add(&pool->index, hash, (uint32_t)pool->count) < 0) {
                free(copy);
                return 0;
        }
        pool->texts[pool->count++] = copy;
        return (uint32_t)pool->count;
}

uint32_t string_pool_put(struct string_pool *pool, const char *text)
{
        if (!text)
                return 0;
        uint32_t hash = hash_bytes(text, strlen(text));
        uint32_t position = hash_index_find(&pool->index, hash, same_text, pool, text);

        if (position != HASH_INDEX_NONE)
                return position + 1;
        uint32_t id = add(pool, text, hash);

        if (!id)
                pool->error = -ENOMEM;
        return id;
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
        uint32_t id = string_pool_put(pool, text);

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

uint32_t string_pool_take(struct string_pool *pool, const struct string_pool *from,
                          uint32_t *known, uint32_t id)
{
        if (id && !known[id])
                known[id] = string_pool_put(pool, string_pool_text(from, id));
        return known[id];
}

size_t string_pool_count(const struct string_pool *pool)
{
        return pool->count;
}

const char *string_pool_text(const struct string_pool *pool, uint32_t id)
{
        return id ? pool->texts[id - 1] : NULL;
}
