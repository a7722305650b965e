/* SPDX-License-Identifier: MIT */
/* The L1 data cache together with the filters of hot.h. A hit on a line whose recent
 * bit is set changes nothing in a bit-PLRU cache, and such hits need not reach the
 * model at all. Everything here that makes a filter's entry untrue drops it. */
#ifndef SIMPMU_MODEL_L1D_H
#define SIMPMU_MODEL_L1D_H

#include "cache.h"
#include "hot.h"

/* Notes that way BIT was used. When that makes all ways recent, the others no longer
 * are. */
static inline void l1d_use(const struct cache *l1d, struct sim_hot *hot,
                           const struct cache_place *place, uint32_t bit)
{
        struct cache_set *set = place->set;
        uint32_t recent = set->recent | bit;

        if (recent == l1d->all_ways) {
                for (uint32_t others = recent & ~bit; others != 0; others &= others - 1) {
                        uint32_t tag = set->tag[__builtin_ctz(others)];
                        filter_drop(hot, cache_line_of(l1d, place->index, tag));
                }
                recent = bit;
        }
        set->recent = recent;
}

/* Puts the line of PLACE where the line of way BIT was. */
static inline struct cache_victim l1d_replace(const struct cache *l1d,
                                              struct sim_hot *hot,
                                              const struct cache_place *place,
                                              uint32_t bit)
{
        struct cache_victim victim = cache_replace(l1d, place, bit);

        if (victim.evicted)
                filter_drop(hot, victim.line);
        return victim;
}

#endif
