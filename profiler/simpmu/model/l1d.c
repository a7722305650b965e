/* SPDX-License-Identifier: MIT */
/* The cold half of l1d.h. */
#include "l1d.h"

void l1d_init(struct l1d *l1d, uint64_t size_bytes, uint32_t ways, sim_allocate allocate)
{
        uint64_t sets = size_bytes / LINE_BYTES / ways;

        if (sets == 0)
                sets = 1;
        l1d->set_count = (uint32_t)sets;
        l1d->index_mask = (sets & (sets - 1)) == 0 ? (uint32_t)sets - 1 : 0;
        l1d->ways = ways;
        l1d->all_ways = (1u << ways) - 1;
        l1d->sets = allocate(sets * sizeof(*l1d->sets));
        for (uint64_t i = 0; i < sets; i++) {
                for (uint32_t way = 0; way < L1D_MAXIMUM_WAYS; way++)
                        l1d->sets[i].line[way] = L1D_EMPTY;
        }
}

bool l1d_remove(struct l1d *l1d, uint64_t line, bool also_clean)
{
        struct l1d_set *set = l1d_set(l1d, line);
        uint32_t way = l1d_find(l1d, set, line);

        if (way == l1d->ways)
                return false;
        uint32_t bit = 1u << way;
        bool dirty = (set->dirty & bit) != 0;
        if (!dirty && !also_clean)
                return false;
        set->line[way] = L1D_EMPTY;
        set->recent &= ~bit;
        set->dirty &= ~bit;
        return dirty;
}
