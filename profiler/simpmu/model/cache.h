/* SPDX-License-Identifier: MIT */
/* A set-associative write-back cache with true LRU replacement: the L2 and L3, and
 * the TLBs (whose "lines" are pages). The L1D has its own file, because generated
 * code takes part in its bookkeeping. Knows tags only, no time and no data. */
#ifndef SIMPMU_MODEL_CACHE_H
#define SIMPMU_MODEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory comes from whoever builds the model: zeroed, never freed, never NULL. */
typedef void *(*sim_allocate)(size_t bytes);

/* A tag is line << 1 | dirty. */
#define CACHE_DIRTY 1u
#define CACHE_EMPTY UINT64_MAX

struct cache {
        uint64_t *tags; /* sets x ways; within a set the most recent first */
        uint32_t sets;
        uint32_t ways;
        uint32_t index_mask; /* sets - 1 when the low line bits select the set, else 0 */
};

/* What happened to make room. */
struct cache_victim {
        uint64_t line;
        bool evicted; /* a valid line left */
        bool dirty;
};

/* HASHED spreads lines over the sets by a hash of the whole line number, as
 * sliced L3 caches do; otherwise a power of two of sets is indexed by low bits. */
void cache_init(struct cache *cache, uint64_t lines, uint32_t ways, bool hashed,
                sim_allocate allocate);

/* Puts LINE, which must not be there, in front of its set. */
struct cache_victim cache_insert(struct cache *cache, uint64_t line, bool dirty);

/* Removes LINE where it is, a clean one only with ALSO_CLEAN; returns whether it
 * was there and dirty. */
bool cache_remove(struct cache *cache, uint64_t line, bool also_clean);

static inline uint64_t *cache_set(const struct cache *cache, uint64_t line)
{
        /* 2^64 / golden ratio: Fibonacci hashing. The multiplication by the number
         * of sets maps the hash to [0, sets) without a division. */
        const uint64_t multiplier = 0x9e3779b97f4a7c15u;
        uint64_t index = line & cache->index_mask;

        if (cache->index_mask == 0)
                index = (((line * multiplier) >> 32) * cache->sets) >> 32;
        return cache->tags + index * cache->ways;
}

/* Looks LINE up and makes it the most recent of its set. */
static inline bool cache_touch(struct cache *cache, uint64_t line)
{
        uint64_t *set = cache_set(cache, line);
        uint64_t found = set[0];
        uint32_t way = 0;

        if (found >> 1 == line)
                return true;
        do {
                if (++way == cache->ways)
                        return false;
                found = set[way];
        } while (found >> 1 != line);
        for (; way > 0; way--)
                set[way] = set[way - 1];
        set[0] = found;
        return true;
}

/* Marks LINE dirty where it is; false when it is not there. */
static inline bool cache_mark_dirty(struct cache *cache, uint64_t line)
{
        uint64_t *set = cache_set(cache, line);

        for (uint32_t way = 0; way < cache->ways; way++) {
                if (set[way] >> 1 == line) {
                        set[way] |= CACHE_DIRTY;
                        return true;
                }
        }
        return false;
}

#endif
