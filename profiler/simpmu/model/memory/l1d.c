/* SPDX-License-Identifier: MIT */
/* The cold half of l1d.h. */
#include "l1d.h"

void l1d_init(struct l1d *l1d, uint64_t lines, uint32_t ways, bool hashed,
              sim_allocate allocate)
{
        cache_init(&l1d->cache, lines, ways, hashed, allocate);
        l1d->ways = allocate((uint64_t)l1d->cache.set_count * l1d->cache.tag_count *
                             sizeof(*l1d->ways));
        l1d->turns = allocate(l1d->cache.set_count * sizeof(*l1d->turns));
        /* Where the set does not follow from the line's low bits, as the filter's entry
         * does, every entry may be any set's. */
        l1d->filter_step = l1d->cache.hashed ? 1 : l1d->cache.set_count;
}

void l1d_settle(struct l1d *l1d)
{
        uint32_t count = l1d->cache.set_count * l1d->cache.tag_count;

        for (uint32_t i = 0; i < count; i++)
                l1d->ways[i] = (struct l1d_way){0};
        for (uint32_t i = 0; i < l1d->cache.set_count; i++)
                l1d->turns[i] = (struct l1d_turns){0};
}

uint64_t l1d_take_turn(struct l1d *l1d, uint64_t line, uint64_t comes, uint64_t interval)
{
        struct cache_place place = cache_place_of(&l1d->cache, line);
        struct l1d_turns *turns = &l1d->turns[place.index];

        if (comes + interval <= turns->from)
                return comes;
        if (comes >= turns->until)
                *turns = (struct l1d_turns){comes, comes};
        uint64_t taken = turns->until;
        turns->until = taken + interval;
        return taken;
}
