/* SPDX-License-Identifier: MIT */
/* The L1 data cache: when each line has arrived, and the filters of hot.h. A hit on a
 * settled line whose recent bit is set changes nothing in a bit-PLRU cache, and such hits
 * need not reach the model at all. Everything here that makes a filter's entry untrue
 * drops it. */
#ifndef SIMPMU_MODEL_L1D_H
#define SIMPMU_MODEL_L1D_H

#include "cache.h"
#include "hot.h"

/* The geometry of most processors' L1. */
#define L1D_COMMON_SETS      64u
#define L1D_COMMON_WAYS      8u
#define L1D_COMMON_SET_BYTES 64u

/* Times on the clock of the thread that runs on the core. */
struct l1d_way {
        uint64_t arrival; /* the line has been requested, and is there from then on */
};

/* A set accepts one line after another: the last time in which it did so without a
   pause. */
struct l1d_turns {
        uint64_t from, until;
};

struct l1d {
        struct cache cache;
        struct l1d_way *ways;    /* tag_count of each set */
        uint32_t filter_step;    /* filter entries that one set uses lie so far apart */
        struct l1d_turns *turns; /* of each set */
};

/* The upper halves of two masks of a set; BIT is a way's. Of L1's ways there are at most
 * as many as the lower half has bits. */
#define L1D_UPPER_HALF 16u

/* Of CONTESTED: the line is watched (watch.h). */
static inline uint32_t l1d_watched(uint32_t bit)
{
        return bit << L1D_UPPER_HALF;
}

/* Of MARK: a prefetch has brought the line from beyond L2, and nothing has used it. */
static inline uint32_t l1d_from_beyond(uint32_t bit)
{
        return bit << L1D_UPPER_HALF;
}

/* HASHED as for cache_init. */
void l1d_init(struct l1d *l1d, uint64_t lines, uint32_t ways, bool hashed,
              sim_allocate allocate);

/* Another thread, with another clock, comes to the core: all lines have arrived. */
void l1d_settle(struct l1d *l1d);

/* LINE could arrive at COMES, and its set then accepts no other line for INTERVAL.
 * Returns the arrival. Lines do not come in time order, because a load may have waited
 * long for its address. The set counts as free before its last turns. */
uint64_t l1d_take_turn(struct l1d *l1d, uint64_t line, uint64_t comes, uint64_t interval);

/* The same as L1D with the common geometry: derived values are then constants. */
static inline struct l1d l1d_as_common(const struct l1d *l1d)
{
        return (struct l1d){
            .cache = {.sets = l1d->cache.sets,
                      .set_bytes = L1D_COMMON_SET_BYTES,
                      .set_count = L1D_COMMON_SETS,
                      .all_ways = (1u << L1D_COMMON_WAYS) - 1,
                      .tag_count = L1D_COMMON_WAYS,
                      .index_bits = 6},
            .ways = l1d->ways,
            .filter_step = L1D_COMMON_SETS,
        };
}

static inline struct l1d_way *l1d_way_of(const struct l1d *l1d,
                                         const struct cache_place *place, uint32_t bit)
{
        return &l1d->ways[place->index * l1d->cache.tag_count +
                          (uint32_t)__builtin_ctz(bit)];
}

/* Puts the line of PLACE into way BIT, the way to replace next. If that makes all ways
 * recent, only the new line stays recent. Otherwise the filters do not know the
 * evicted line: a line to replace is not recent, or all lines were. */
static inline struct cache_victim l1d_replace(const struct l1d *l1d, struct sim_hot *hot,
                                              const struct cache_place *place,
                                              uint32_t bit)
{
        struct cache_victim victim = cache_replace(place, bit);

        place->set->mark &= ~l1d_from_beyond(bit);
        place->set->contested &= ~(bit | l1d_watched(bit));
        place->set->recent |= bit;
        if (place->set->recent == l1d->cache.all_ways) {
                place->set->recent = bit;
                if (__builtin_expect(l1d->filter_step == L1D_COMMON_SETS, 1))
                        filter_drop_each(hot, place->index, L1D_COMMON_SETS);
                else
                        filter_drop_each(hot, l1d->cache.hashed ? 0 : place->index,
                                         l1d->filter_step);
        }
        return victim;
}

#endif
