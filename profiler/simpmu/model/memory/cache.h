/* SPDX-License-Identifier: MIT */
/* A set-associative write-back cache with bit-PLRU replacement (a bit of each way says
 * that it was used lately; when all are set, only the last one stays). L1D, L2, L3 and
 * the TLBs, whose "lines" are pages. Knows tags only, no time and no data. */
#ifndef SIMPMU_MODEL_CACHE_H
#define SIMPMU_MODEL_CACHE_H

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller that builds the model supplies memory: zeroed, aligned to 64 bytes, never
 * freed, never NULL. */
typedef void *(*sim_allocate)(size_t bytes);

#define CACHE_EMPTY        UINT32_MAX
#define CACHE_TENANT       (UINT32_MAX - 1) /* a line that this program never uses */
#define CACHE_MAXIMUM_WAYS 32u
#define CACHE_VECTOR_WAYS  8u /* tags that one comparison looks at */

/* A tag is the part of the line number that the set does not determine. 32 bits are
 * exact for addresses below 2^44 in the smallest L1D, and for more in larger caches.
 * Beyond that, lines 2^44 bytes apart are confused. */
struct cache_set {
        uint32_t recent; /* bit of each way */
        uint32_t dirty;
        /* L1D: no load has asked for the line; see also l1d_from_beyond. L2: a prefetch
         * has brought it, and nothing has asked for it. */
        uint32_t mark;
        union {
                uint32_t contested;    /* L1D: other cores fight for the line; see
                                          l1d_watched */
                uint32_t tenant_spell; /* L3: of the last access; see insert_tenants */
        };
        uint32_t tag[]; /* of each way, filled up to whole vectors with CACHE_EMPTY */
};

struct cache {
        char *sets; /* set_count x set_bytes */
        uint32_t set_bytes;
        uint32_t set_count;
        uint32_t all_ways;   /* the bits of every way */
        uint32_t tag_count;  /* ways rounded up to whole vectors */
        uint32_t index_bits; /* of the line, when it selects the set directly */
        bool hashed;         /* the set follows from a hash of the whole line number */
        uint64_t reciprocal; /* of set_count, times 2^64: for hashed caches */
};

/* Where a line belongs. */
struct cache_place {
        struct cache_set *set;
        uint32_t index; /* of the set */
        uint32_t tag;
};

/* The effect of making room. Only cache_victim_line computes the evicted line: that is
 * slower in a hashed cache, and few callers need it. */
struct cache_victim {
        uint32_t index; /* of the set */
        uint32_t tag;
        bool evicted; /* a valid line left */
        bool dirty;
};

/* HASHED spreads lines over the sets as sliced L3 caches do; so does a number of sets
 * that is no power of two. */
void cache_init(struct cache *cache, uint64_t lines, uint32_t ways, bool hashed,
                sim_allocate allocate);

/* Puts LINE, which must not be there, into its set. */
struct cache_victim cache_insert(const struct cache *cache, uint64_t line, bool dirty);

enum cache_state { CACHE_ABSENT, CACHE_CLEAN, CACHE_DIRTY };

/* Removes LINE; returns how it was there. */
enum cache_state cache_remove(struct cache *cache, uint64_t line);

/* Nothing is there any more. */
void cache_empty(struct cache *cache);

/* LINE, where it is, is no longer dirty; returns whether it was. */
bool cache_clean(struct cache *cache, uint64_t line);

/* No line is dirty any more. */
void cache_clean_all(struct cache *cache);

/* How LINE is there. */
enum cache_state cache_look(const struct cache *cache, uint64_t line);

/* Spreads LINE over 24 bits. */
static inline uint32_t cache_spread(uint64_t line)
{
        const uint64_t multiplier = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */

        return (uint32_t)((line * multiplier) >> 40);
}

/* An offset into the sets for each quotient: it spreads equal remainders. */
static inline uint32_t cache_rotation(const struct cache *cache, uint32_t quotient)
{
        const uint32_t multiplier = 0x9e3779b1u; /* 2^32 / golden ratio */

        return (uint32_t)(((uint64_t)(quotient * multiplier) * cache->set_count) >> 32);
}

static inline struct cache_set *cache_set_at(const struct cache *cache, uint32_t index)
{
        return (struct cache_set *)(cache->sets + (uint64_t)index * cache->set_bytes);
}

/* The same as cache_place_of for a hashed CACHE. */
static inline struct cache_place cache_place_hashed(const struct cache *cache,
                                                    uint64_t line)
{
        uint32_t tag = (uint32_t)(((unsigned __int128)line * cache->reciprocal) >> 64);
        uint32_t index = (uint32_t)line - tag * cache->set_count;

        index += cache_rotation(cache, tag);
        if (index >= cache->set_count)
                index -= cache->set_count;
        return (struct cache_place){cache_set_at(cache, index), index, tag};
}

/* Not inline: most caches that are looked up by cache_place_of are not hashed. */
struct cache_place cache_place_if_hashed(const struct cache *cache, uint64_t line);

static inline struct cache_place cache_place_of(const struct cache *cache, uint64_t line)
{
        if (cache->hashed)
                return cache_place_if_hashed(cache, line);
        uint32_t index = (uint32_t)line & (cache->set_count - 1);
        return (struct cache_place){cache_set_at(cache, index), index,
                                    (uint32_t)(line >> cache->index_bits)};
}

/* The line whose tag is TAG in the set number INDEX. */
static inline uint64_t cache_line_of(const struct cache *cache, uint32_t index,
                                     uint32_t tag)
{
        if (!cache->hashed)
                return (uint64_t)tag << cache->index_bits | index;
        uint32_t rotation = cache_rotation(cache, tag);
        uint32_t remainder =
            index >= rotation ? index - rotation : index + cache->set_count - rotation;
        return (uint64_t)tag * cache->set_count + remainder;
}

/* Which of the eight tags at TAGS, aligned to 16 bytes, are TAG, as lanes of ones. */
static inline __m128i cache_compare_eight(const uint32_t *tags, __m128i tag)
{
        const __m128i *four = (const __m128i *)(const void *)tags;

        return _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(four), tag),
                               _mm_cmpeq_epi32(_mm_load_si128(four + 1), tag));
}

/* The bit of the way that holds the line of PLACE, or 0. Compares all ways: the
 * matching way is unpredictable, and an early exit costs the host more than it saves. */
static inline uint32_t cache_find(const struct cache *cache,
                                  const struct cache_place *place)
{
        const __m128i tag = _mm_set1_epi32((int)place->tag);
        const uint32_t *tags = place->set->tag;
        __m128i equal = cache_compare_eight(tags, tag);
        uint32_t found;

        if (cache->tag_count == CACHE_VECTOR_WAYS)
                return (uint32_t)_mm_movemask_epi8(
                    _mm_packs_epi16(equal, _mm_setzero_si128()));
        equal =
            _mm_packs_epi16(equal, cache_compare_eight(tags + CACHE_VECTOR_WAYS, tag));
        found = (uint32_t)_mm_movemask_epi8(equal);
        for (uint32_t way = 2 * CACHE_VECTOR_WAYS; way < cache->tag_count;
             way += CACHE_VECTOR_WAYS) {
                equal = cache_compare_eight(tags + way, tag);
                equal = _mm_packs_epi16(equal, _mm_setzero_si128());
                found |= (uint32_t)_mm_movemask_epi8(equal) << way;
        }
        return found;
}

static inline void cache_use(const struct cache *cache, struct cache_set *set,
                             uint32_t bit)
{
        uint32_t recent = set->recent | bit;

        set->recent = recent == cache->all_ways ? bit : recent;
}

/* The bit of the way to replace next. */
static inline uint32_t cache_victim_bit(const struct cache *cache,
                                        const struct cache_set *set)
{
        uint32_t candidates = ~set->recent & cache->all_ways;

        return candidates == 0 ? 1 : candidates & -candidates;
}

/* Puts the line of PLACE, clean, into way BIT. */
static inline struct cache_victim cache_replace(const struct cache_place *place,
                                                uint32_t bit)
{
        uint32_t *tag = &place->set->tag[__builtin_ctz(bit)];
        struct cache_victim victim = {
            .index = place->index,
            .tag = *tag,
            .evicted = *tag != CACHE_EMPTY,
            .dirty = (place->set->dirty & bit) != 0,
        };

        *tag = place->tag;
        place->set->dirty &= ~bit;
        place->set->mark &= ~bit;
        return victim;
}

/* The line that has left CACHE as VICTIM, where one has. */
static inline uint64_t cache_victim_line(const struct cache *cache,
                                         const struct cache_victim *victim)
{
        return cache_line_of(cache, victim->index, victim->tag);
}

/* Puts the line of PLACE, which must not be there, into its set. */
static inline struct cache_victim
cache_insert_at(const struct cache *cache, const struct cache_place *place, bool dirty)
{
        uint32_t bit = cache_victim_bit(cache, place->set);
        struct cache_victim victim = cache_replace(place, bit);

        if (dirty)
                place->set->dirty |= bit;
        cache_use(cache, place->set, bit);
        return victim;
}

/* The same for exact LRU replacement, where ways are in the order of their last use. An
 * empty way is taken first. */
static inline struct cache_victim cache_insert_newest(const struct cache *cache,
                                                      const struct cache_place *place,
                                                      bool dirty)
{
        struct cache_set *set = place->set;
        const struct cache_place hole = {set, place->index, CACHE_EMPTY};
        uint32_t holes = cache_find(cache, &hole) & cache->all_ways;
        uint32_t oldest = cache->all_ways ^ cache->all_ways >> 1;
        uint32_t bit = holes != 0 ? holes & -holes : oldest;
        uint32_t newer = bit - 1, way = (uint32_t)__builtin_ctz(bit);
        struct cache_victim victim = {
            .index = place->index,
            .tag = set->tag[way],
            .evicted = set->tag[way] < CACHE_TENANT,
            .dirty = (set->dirty & bit) != 0,
        };

        for (; way > 0; way--)
                set->tag[way] = set->tag[way - 1];
        set->tag[0] = place->tag;
        set->dirty = (set->dirty & ~(newer | bit)) | (set->dirty & newer) << 1 | dirty;
        return victim;
}

/* Removes the line in way BIT of PLACE's set; returns its former state. */
static inline enum cache_state cache_remove_at(const struct cache_place *place,
                                               uint32_t bit)
{
        struct cache_set *set = place->set;
        enum cache_state state = (set->dirty & bit) != 0 ? CACHE_DIRTY : CACHE_CLEAN;

        set->tag[__builtin_ctz(bit)] = CACHE_EMPTY;
        set->recent &= ~bit;
        set->dirty &= ~bit;
        return state;
}

/* Looks the line of PLACE up and notes that it was used. */
static inline bool cache_touch_at(const struct cache *cache,
                                  const struct cache_place *place)
{
        uint32_t bit = cache_find(cache, place);

        if (bit == 0)
                return false;
        cache_use(cache, place->set, bit);
        return true;
}

static inline bool cache_touch(const struct cache *cache, uint64_t line)
{
        struct cache_place place = cache_place_of(cache, line);

        return cache_touch_at(cache, &place);
}

/* The same, and ends the line's mark; MARKED: it had one. */
static inline bool cache_touch_first(const struct cache *cache, uint64_t line,
                                     bool *marked)
{
        struct cache_place place = cache_place_of(cache, line);
        uint32_t bit = cache_find(cache, &place);

        if (bit == 0)
                return false;
        cache_use(cache, place.set, bit);
        *marked = (place.set->mark & bit) != 0;
        place.set->mark &= ~bit;
        return true;
}

/* Marks the line of PLACE dirty where it is; false when it is not there. */
static inline bool cache_mark_dirty_at(const struct cache *cache,
                                       const struct cache_place *place)
{
        uint32_t bit = cache_find(cache, place);

        place->set->dirty |= bit;
        return bit != 0;
}

static inline bool cache_mark_dirty(const struct cache *cache, uint64_t line)
{
        struct cache_place place = cache_place_of(cache, line);

        return cache_mark_dirty_at(cache, &place);
}

#endif
