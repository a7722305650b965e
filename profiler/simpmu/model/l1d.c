/* SPDX-License-Identifier: MIT */
/* The cold half of l1d.h. */
#include "l1d.h"

void l1d_init(struct l1d *l1d, uint64_t lines, uint32_t ways, sim_allocate allocate)
{
        cache_init(&l1d->cache, lines, ways, false, allocate);
        l1d->ways = allocate((uint64_t)l1d->cache.set_count * l1d->cache.tag_count *
                             sizeof(*l1d->ways));
        /* Where the set does not follow from the line's low bits, as the filter's entry
         * does, every entry may be any set's. */
        l1d->filter_step = l1d->cache.hashed ? 1 : l1d->cache.set_count;
}

void l1d_settle(struct l1d *l1d)
{
        uint32_t count = l1d->cache.set_count * l1d->cache.tag_count;

        for (uint32_t i = 0; i < count; i++)
                l1d->ways[i] = (struct l1d_way){0};
}
