/* SPDX-License-Identifier: MIT */
/* See in_time.h. */
#include "in_time.h"

#include "kernel_time.h"
#include "miss.h"

/* Of a line of the farthest memory that has one, beside its translation. */
static uint64_t lead_of(const struct machine *machine)
{
        const struct dram *dram = &machine->nodes[0].dram;
        double slots = dram->idle_latency_slots;

        if (machine->nodes_used > 1)
                slots += machine->params.link_latency_ns * machine_slots_per_ns(machine);
        return (uint64_t)slots;
}

static void bring_line(struct machine *machine, struct sim_hot *hot,
                       struct sim_thread *thread, uint64_t line, uint64_t now, bool write)
{
        struct l1d *l1d = &thread->core->l1d;
        struct cache_place place = cache_place_of(&l1d->cache, line);
        const uint64_t lead = lead_of(machine);
        const uint64_t start = now > lead ? now - lead : 0;

        if (cache_find(&l1d->cache, &place) != 0)
                return;
        /* Its walk was in time too. */
        (void)machine_translate(machine, thread->core, line >> PAGE_LINE_SHIFT);
        uint32_t bit = cache_victim_bit(&l1d->cache, place.set);
        (void)miss_to_l1(machine, hot, thread, l1d, line, &place, bit, start, now, write,
                         false);
        place.set->mark |= bit; /* no load has asked for it */
}

void in_time_bring(struct machine *machine, struct sim_hot *hot,
                   struct sim_thread *thread, const struct access_site *site,
                   uint64_t address, bool write)
{
        const uint64_t last = (address + site->size_bytes - 1) >> LINE_SHIFT;
        const uint64_t instruction =
            hot->instructions + (uint64_t)(int64_t)site->position;

        thread_retire(hot, thread, instruction);
        for (uint64_t line = address >> LINE_SHIFT; line <= last; line++)
                if (!kernel_untouched(machine, line >> PAGE_LINE_SHIFT))
                        bring_line(machine, hot, thread, line,
                                   instruction + thread->stall, write);
}
