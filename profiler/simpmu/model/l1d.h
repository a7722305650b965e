/* SPDX-License-Identifier: MIT */
/* The L1 data cache: set-associative, write-back, bit-PLRU replacement. Bit-PLRU
 * because a hit on a line whose recent bit is set changes nothing: such hits need
 * not reach the model at all, which is what the filters of hot.h are for. Every
 * change here that makes an entry untrue drops it from the filters. */
#ifndef SIMPMU_MODEL_L1D_H
#define SIMPMU_MODEL_L1D_H

#include <stdbool.h>
#include <stdint.h>

#include "cache.h"
#include "hot.h"

#define L1D_MAXIMUM_WAYS 16u
#define L1D_COMMON_WAYS  8u /* gets a loop of constant length */
#define L1D_EMPTY        UINT64_MAX

struct l1d_set {
        uint64_t line[L1D_MAXIMUM_WAYS];
        uint32_t recent; /* bit of each way */
        uint32_t dirty;
};

struct l1d {
        struct l1d_set *sets;
        uint32_t set_count;
        uint32_t index_mask; /* set_count - 1 for powers of two, else 0 */
        uint32_t ways;
        uint32_t all_ways; /* the bits of every way */
};

void l1d_init(struct l1d *l1d, uint64_t size_bytes, uint32_t ways, sim_allocate allocate);

/* Takes LINE out because another core wants it, a clean one only with ALSO_CLEAN;
 * true when it was dirty. Only for a core that is not running: the filters are not
 * touched. */
bool l1d_remove(struct l1d *l1d, uint64_t line, bool also_clean);

static inline struct l1d_set *l1d_set(const struct l1d *l1d, uint64_t line)
{
        uint64_t index = line & l1d->index_mask;

        if (l1d->index_mask == 0)
                index = line % l1d->set_count;
        return &l1d->sets[index];
}

/* The way that holds LINE, or l1d->ways. */
static inline uint32_t l1d_find(const struct l1d *l1d, const struct l1d_set *set,
                                uint64_t line)
{
        uint32_t way;

        if (__builtin_expect(l1d->ways == L1D_COMMON_WAYS, 1)) {
                for (way = 0; way < L1D_COMMON_WAYS; way++) {
                        if (set->line[way] == line)
                                return way;
                }
                return L1D_COMMON_WAYS;
        }
        for (way = 0; way < l1d->ways && set->line[way] != line; way++)
                ;
        return way;
}

/* Marks WAY recent. When that makes all ways recent, the others no longer are. */
static inline void l1d_touch(const struct l1d *l1d, struct sim_hot *hot,
                             struct l1d_set *set, uint32_t way)
{
        uint32_t bit = 1u << way;
        uint32_t recent = set->recent | bit;

        if (recent == l1d->all_ways) {
                for (uint32_t other = 0; other < l1d->ways; other++) {
                        if (other != way)
                                filter_drop(hot, set->line[other]);
                }
                recent = bit;
        }
        set->recent = recent;
}

/* The way to replace next. */
static inline uint32_t l1d_victim_way(const struct l1d *l1d, const struct l1d_set *set)
{
        uint32_t candidates = ~set->recent & l1d->all_ways;

        return candidates == 0 ? 0 : (uint32_t)__builtin_ctz(candidates);
}

/* Puts LINE where WAY's line was. */
static inline struct cache_victim l1d_replace(struct sim_hot *hot, struct l1d_set *set,
                                              uint32_t way, uint64_t line)
{
        struct cache_victim victim = {
            .line = set->line[way],
            .evicted = set->line[way] != L1D_EMPTY,
            .dirty = (set->dirty >> way & 1) != 0,
        };

        if (victim.evicted)
                filter_drop(hot, victim.line);
        set->line[way] = line;
        set->dirty &= ~(1u << way);
        return victim;
}

#endif
