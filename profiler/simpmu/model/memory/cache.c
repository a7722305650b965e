/* SPDX-License-Identifier: MIT */
/* The cold half of cache.h. */
#include "cache.h"

static uint32_t log2_of(uint32_t power_of_two)
{
        return (uint32_t)__builtin_ctz(power_of_two);
}

/* A set that nearly fills a line of the host's cache gets a whole line. */
static uint32_t bytes_of_set(const struct cache *cache)
{
        const uint32_t host_line = 64;
        uint32_t bytes =
            (uint32_t)(sizeof(struct cache_set) + cache->tag_count * sizeof(uint32_t));

        return bytes < host_line && bytes >= host_line * 3 / 4 ? host_line : bytes;
}

void cache_empty(struct cache *cache)
{
        for (uint32_t i = 0; i < cache->set_count; i++) {
                struct cache_set *set = cache_set_at(cache, i);
                *set = (struct cache_set){0};
                for (uint32_t way = 0; way < cache->tag_count; way++)
                        set->tag[way] = CACHE_EMPTY;
        }
}

void cache_init(struct cache *cache, uint64_t lines, uint32_t ways, bool hashed,
                sim_allocate allocate)
{
        uint32_t sets = lines < ways ? 1 : (uint32_t)(lines / ways);
        uint32_t vectors = (ways + CACHE_VECTOR_WAYS - 1) / CACHE_VECTOR_WAYS;

        *cache = (struct cache){
            .set_count = sets,
            .all_ways = UINT32_MAX >> (CACHE_MAXIMUM_WAYS - ways),
            .tag_count = vectors * CACHE_VECTOR_WAYS,
            .hashed = sets > 1 && (hashed || (sets & (sets - 1)) != 0),
        };
        if (cache->hashed)
                cache->reciprocal = UINT64_MAX / sets + 1; /* rounded up */
        else
                cache->index_bits = log2_of(sets);
        cache->set_bytes = bytes_of_set(cache);
        cache->sets = allocate((uint64_t)sets * cache->set_bytes);
        cache_empty(cache);
}

struct cache_place cache_place_if_hashed(const struct cache *cache, uint64_t line)
{
        return cache_place_hashed(cache, line);
}

struct cache_victim cache_insert(const struct cache *cache, uint64_t line, bool dirty)
{
        struct cache_place place = cache_place_of(cache, line);

        return cache_insert_at(cache, &place, dirty);
}

enum cache_state cache_look(const struct cache *cache, uint64_t line)
{
        struct cache_place place = cache_place_of(cache, line);
        uint32_t bit = cache_find(cache, &place);

        if (bit == 0)
                return CACHE_ABSENT;
        return (place.set->dirty & bit) != 0 ? CACHE_DIRTY : CACHE_CLEAN;
}

enum cache_state cache_remove(struct cache *cache, uint64_t line)
{
        struct cache_place place = cache_place_of(cache, line);
        uint32_t bit = cache_find(cache, &place);

        return bit == 0 ? CACHE_ABSENT : cache_remove_at(&place, bit);
}

bool cache_clean(struct cache *cache, uint64_t line)
{
        struct cache_place place = cache_place_of(cache, line);
        uint32_t bit = cache_find(cache, &place);
        bool dirty = (place.set->dirty & bit) != 0;

        place.set->dirty &= ~bit;
        return dirty;
}

void cache_clean_all(struct cache *cache)
{
        for (uint32_t i = 0; i < cache->set_count; i++)
                cache_set_at(cache, i)->dirty = 0;
}
