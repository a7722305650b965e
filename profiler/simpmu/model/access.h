/* SPDX-License-Identifier: MIT */
/* The hot path of the model: one load or store that the filters did not let pass.
 * Inline, so that the caller's constants (addresses of the machine and of the hot
 * state) fold into it. */
#ifndef SIMPMU_MODEL_ACCESS_H
#define SIMPMU_MODEL_ACCESS_H

#include "machine.h"
#include "miss.h"

#define HOT_PATH static inline __attribute__((always_inline))

/* One access on its way: the same few values that every step needs. */
struct access {
        const struct access_site *site;
        uint64_t address;
        uint64_t line;
        uint64_t entry;       /* instructions retired at the block's entry */
        uint64_t instruction; /* its own number */
        uint64_t now;         /* when it issues */
        uint64_t start;       /* when its address is known */
        bool loads_pending;   /* some earlier load has not delivered */
};

HOT_PATH void access_sample(struct machine *machine, struct sim_thread *thread,
                            const struct access *access, uint64_t ready,
                            enum simpmu_level level, bool tlb_miss)
{
        uint64_t latency = ready - access->start;

        if (latency < machine->sample_latency || !sampler_counts(&thread->sampler))
                return;
        struct sim_sample sample = {
            .site = access->site,
            .address = access->address,
            .time_slots = access->start,
            .latency_slots = latency,
            .level = level,
            .tlb_miss = tlb_miss,
        };
        machine->on_sample(&sample);
}

HOT_PATH struct stored *stored_word_at(struct sim_thread *thread, uint64_t address)
{
        return &thread->stored_word[(address >> 3) & (STORED_WORDS - 1)];
}

HOT_PATH struct stored *stored_line_at(struct sim_thread *thread, uint64_t line)
{
        return &thread->stored_line[line & (STORED_LINES - 1)];
}

/* A load gets the value of an earlier store whose data is still to come. What depends
 * on the load waits for it, but the load is not sampled as slow: the latency is that of
 * the load that the stored value came from, and would count again at every step of a
 * chain that goes through memory, as pointers on the stack do without optimisation. */
HOT_PATH uint64_t after_store_forwarding(struct sim_thread *thread,
                                         const struct access *access, uint64_t ready)
{
        const struct stored *word = stored_word_at(thread, access->address);

        if (word->where == access->address >> 3 && word->ready > ready)
                return word->ready;
        return ready;
}

/* Notes when the stored value comes; true while it is outstanding. */
HOT_PATH bool store_data(struct sim_hot *hot, struct sim_thread *thread,
                         const struct access *access)
{
        const struct access_site *site = access->site;
        struct stored *word = stored_word_at(thread, access->address);
        uint64_t ready = dependence_ready(hot, thread, site->data_registers,
                                          site->data_slots, access->entry);

        if (ready <= access->now) {
                if (word->where == access->address >> 3)
                        word->ready = 0;
                return false;
        }
        struct stored *line = stored_line_at(thread, access->line);
        *word = (struct stored){access->address >> 3, ready};
        if (line->where != access->line || line->ready < ready)
                *line = (struct stored){access->line, ready};
        filter_drop(hot, access->line);
        return true;
}

/* An access that still holds its place when the window has filled up behind it.
 * One that completes earlier can never stall the thread and is not kept. */
HOT_PATH void hold_place(struct sim_hot *hot, struct sim_thread *thread,
                         struct window *window, const struct access *access,
                         uint64_t completion)
{
        if (completion > access->now + window->capacity)
                window_push(hot, thread, window, access->instruction, completion);
}

/* Someone may wait for the value of a load that delivers at READY. */
HOT_PATH void deliver(struct sim_hot *hot, struct sim_thread *thread,
                      const struct access *access, uint64_t ready)
{
        if (ready <= access->now)
                return;
        if (ready > thread->last_ready) {
                thread->last_ready = ready;
                hold_place(hot, thread, &thread->loads, access, ready);
        }
        if (access->site->value_used)
                slot_set(hot, thread, access->site->slot, access->entry, ready);
}

/* A dirty bit for a line that is in L1 or on its way there. */
HOT_PATH void mark_in_flight_dirty(struct machine *machine, struct sim_thread *thread,
                                   struct in_flight *fill, const struct access *access)
{
        struct cache_place place = cache_place_of(&thread->core->l1d, access->line);
        uint32_t bit = cache_find(&thread->core->l1d, &place);

        fill->dirty = true;
        if (bit == 0)
                return;
        if ((place.set->dirty & bit) == 0)
                miss_take_ownership(machine, thread, access->line, access->now);
        place.set->dirty |= bit;
}

/* The line has been requested and is not there at the thread's clock. */
HOT_PATH void access_in_flight(struct machine *machine, struct sim_hot *hot,
                               struct sim_thread *thread, struct in_flight *fill,
                               const struct access *access)
{
        enum access_kind kind = (enum access_kind)access->site->kind;

        if (kind != ACCESS_LOAD) {
                if (!fill->dirty)
                        mark_in_flight_dirty(machine, thread, fill, access);
                if (access->loads_pending)
                        (void)store_data(hot, thread, access);
                if (kind == ACCESS_STORE)
                        return;
        }
        enum simpmu_level level = SIMPMU_LEVEL_LFB;
        uint64_t ready = fill->completion;
        if (ready <= access->start) { /* it will be there once the address is known */
                level = SIMPMU_LEVEL_L1;
                ready = access->start + machine->l1d_latency;
        } else {
                thread->counters.fb_hit++;
                if (!fill->for_loads) {
                        fill->for_loads = true;
                        thread->counters.pending_slots += ready - access->start;
                }
        }
        uint64_t value_ready = ready;
        if (access->loads_pending)
                value_ready = after_store_forwarding(thread, access, ready);
        deliver(hot, thread, access, value_ready);
        access_sample(machine, thread, access, ready, level, false);
}

/* Not in L1: finds it, and brings it in. Returns when a load has its value. */
HOT_PATH uint64_t access_miss(struct machine *machine, struct sim_hot *hot,
                              struct sim_thread *thread, const struct access *access,
                              const struct cache_place *place, uint32_t *bit,
                              uint64_t start, enum simpmu_level *level)
{
        enum access_kind kind = (enum access_kind)access->site->kind;

        *bit = cache_victim_bit(&thread->core->l1d, place->set);
        struct cache_victim victim = l1d_replace(&thread->core->l1d, hot, place, *bit);
        if (victim.dirty)
                miss_write_back(machine, thread, victim.line, start);
        struct miss miss =
            miss_fill(machine, thread, access->line, start, access->now, kind);
        *level = miss.level;
        if (kind == ACCESS_STORE)
                hold_place(hot, thread, &thread->stores, access, miss.completion);
        else
                thread->counters.l1_miss++;
        return miss.completion;
}

HOT_PATH uint64_t tlb_latency(const struct machine *machine, enum tlb_outcome outcome)
{
        if (outcome == TLB_HIT)
                return 0;
        return outcome == TLB_STLB_HIT ? machine->stlb_latency : machine->walk_latency;
}

/* The line is in L1, or has to be brought there. */
HOT_PATH void access_cached(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, const struct access *access)
{
        enum access_kind kind = (enum access_kind)access->site->kind;
        struct core *core = thread->core;
        enum tlb_outcome translation =
            tlb_access(&core->tlb, access->address >> PAGE_SHIFT);
        uint64_t start = access->start + tlb_latency(machine, translation);
        struct cache_place place = cache_place_of(&core->l1d, access->line);
        uint32_t bit = cache_find(&core->l1d, &place);
        enum simpmu_level level = SIMPMU_LEVEL_L1;
        uint64_t ready = start + machine->l1d_latency;
        bool missed = bit == 0;
        bool stable = !missed; /* nothing of the line is outstanding */

        if (missed)
                ready = access_miss(machine, hot, thread, access, &place, &bit, start,
                                    &level);
        l1d_use(&core->l1d, hot, &place, bit);
        if (kind != ACCESS_LOAD) {
                if (!missed && (place.set->dirty & bit) == 0)
                        miss_take_ownership(machine, thread, access->line, start);
                place.set->dirty |= bit;
        }
        uint64_t value_ready = ready;
        if (access->loads_pending) {
                const struct stored *line = stored_line_at(thread, access->line);
                if (kind != ACCESS_STORE)
                        value_ready = after_store_forwarding(thread, access, ready);
                if (kind != ACCESS_LOAD && store_data(hot, thread, access))
                        stable = false;
                if (line->where == access->line && line->ready > access->now)
                        stable = false;
        }
        if (kind != ACCESS_STORE) {
                /* L1 latency itself is not followed: see thread.h. */
                if (value_ready > access->now + machine->l1d_latency)
                        deliver(hot, thread, access, value_ready);
                access_sample(machine, thread, access, ready, level,
                              translation != TLB_HIT);
        }
        if (stable) {
                uint64_t index = access->line & (FILTER_ENTRIES - 1);
                hot->load_filter[index] = access->line << LINE_SHIFT;
                if ((place.set->dirty & bit) != 0)
                        hot->store_filter[index] = access->line << LINE_SHIFT;
        }
}

/* The part of an access that lies in LINE. */
HOT_PATH void access_line(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct access_site *site,
                          uint64_t address, uint64_t line)
{
        struct access access = {.site = site, .address = address, .line = line};

        access.entry = hot->instructions - site->counted;
        access.instruction = access.entry + site->index;
        thread_retire(hot, thread, access.instruction);
        access.now = access.instruction + thread->stall;
        access.start = access.now;
        access.loads_pending = thread->last_ready > access.now;
        if (!access.loads_pending) {
                hot->pending = 0; /* spares generated code further calls */
        } else {
                uint64_t ready = dependence_ready(hot, thread, site->address_registers,
                                                  site->address_slots, access.entry);
                if (ready > access.start)
                        access.start = ready;
        }
        if (thread->last_fill > access.now) {
                struct in_flight *fill =
                    &thread->in_flight[line & (IN_FLIGHT_ENTRIES - 1)];
                if (fill->line == line && fill->completion > access.now) {
                        access_in_flight(machine, hot, thread, fill, &access);
                        return;
                }
        }
        access_cached(machine, hot, thread, &access);
}

/* The lines after FIRST of an access that crosses line borders: each is an access
 * and counts as one. */
static __attribute__((noinline)) void
access_rest(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
            const struct access_site *site, uint64_t first, uint64_t last)
{
        for (uint64_t line = first + 1; line <= last; line++)
                access_line(machine, hot, thread, site, line << LINE_SHIFT, line);
}

HOT_PATH void access_memory(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, const struct access_site *site,
                            uint64_t address)
{
        uint64_t line = address >> LINE_SHIFT;
        uint64_t last = (address + site->size_bytes - 1) >> LINE_SHIFT;

        access_line(machine, hot, thread, site, address, line);
        if (__builtin_expect(last != line, 0))
                access_rest(machine, hot, thread, site, line, last);
}

#endif
