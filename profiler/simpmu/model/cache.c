/* SPDX-License-Identifier: MIT */
/* The cold half of cache.h. */
#include "cache.h"

void cache_init(struct cache *cache, uint64_t lines, uint32_t ways, bool hashed,
                sim_allocate allocate)
{
        uint64_t sets = lines / ways;

        if (sets == 0)
                sets = 1;
        cache->sets = (uint32_t)sets;
        cache->ways = ways;
        cache->index_mask = hashed || (sets & (sets - 1)) != 0 ? 0 : (uint32_t)sets - 1;
        cache->tags = allocate(sets * ways * sizeof(*cache->tags));
        for (uint64_t i = 0; i < sets * ways; i++)
                cache->tags[i] = CACHE_EMPTY;
}

struct cache_victim cache_insert(struct cache *cache, uint64_t line, bool dirty)
{
        uint64_t *set = cache_set(cache, line);
        uint32_t last = cache->ways - 1;
        struct cache_victim victim = {
            .line = set[last] >> 1,
            .evicted = set[last] != CACHE_EMPTY,
            .dirty = set[last] != CACHE_EMPTY && (set[last] & CACHE_DIRTY) != 0,
        };

        for (uint32_t way = last; way > 0; way--)
                set[way] = set[way - 1];
        set[0] = line << 1 | (dirty ? CACHE_DIRTY : 0);
        return victim;
}

bool cache_remove(struct cache *cache, uint64_t line, bool also_clean)
{
        uint64_t *set = cache_set(cache, line);

        for (uint32_t way = 0; way < cache->ways; way++) {
                if (set[way] >> 1 != line)
                        continue;
                bool dirty = (set[way] & CACHE_DIRTY) != 0;
                if (!dirty && !also_clean)
                        return false;
                for (; way + 1 < cache->ways; way++)
                        set[way] = set[way + 1];
                set[cache->ways - 1] = CACHE_EMPTY;
                return dirty;
        }
        return false;
}
