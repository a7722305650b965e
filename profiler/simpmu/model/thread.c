/* SPDX-License-Identifier: MIT */
/* Ready times across block boundaries: see thread.h. */
#include "thread.h"

/* The store buffer holds so many stores, of which the model sees those that miss. How
 * many instructions issue while the others fill it up is taken from ordinary code. */
#define INSTRUCTIONS_PER_STORE 8u

void thread_init(struct sim_thread *thread, struct core *core, uint64_t start,
                 uint32_t rob_entries, uint32_t store_buffer_entries)
{
        thread->core = core;
        thread->stall = start;
        thread->idle = start;
        thread->deadline = UINT64_MAX;
        thread->retire_at = UINT64_MAX;
        thread->slot_block = NO_BLOCK;
        thread->loads.capacity = rob_entries;
        thread->loads.entry_limit = WINDOW_ENTRIES;
        thread->stores.capacity = store_buffer_entries * INSTRUCTIONS_PER_STORE;
        thread->stores.entry_limit = store_buffer_entries;
        for (uint32_t i = 0; i < IN_FLIGHT_ENTRIES; i++)
                thread->in_flight[i].line = UINT64_MAX;
}

/* Waits for the accesses of WINDOW whose place INSTRUCTION takes. */
static void retire_window(struct sim_hot *hot, struct sim_thread *thread,
                          struct window *window, uint64_t instruction)
{
        while (window_limit(window) < instruction)
                window_wait(hot, thread, window, window_limit(window));
}

void thread_retire_windows(struct sim_hot *hot, struct sim_thread *thread,
                           uint64_t instruction)
{
        uint64_t loads_limit;
        uint64_t stores_limit;

        retire_window(hot, thread, &thread->loads, instruction);
        retire_window(hot, thread, &thread->stores, instruction);
        loads_limit = window_limit(&thread->loads);
        stores_limit = window_limit(&thread->stores);
        thread->retire_at = loads_limit < stores_limit ? loads_limit : stores_limit;
}

/* Drops the registers whose value has come by NOW from MASK. */
static uint64_t still_pending(const struct sim_thread *thread, uint64_t mask,
                              uint64_t now)
{
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
                uint32_t id = (uint32_t)__builtin_ctzll(rest);
                if (thread->register_ready[id] <= now)
                        mask &= ~(1ull << id);
        }
        return mask;
}

static bool one_bit(uint64_t mask)
{
        return mask != 0 && (mask & (mask - 1)) == 0;
}

/* All new dependences come from one load: the common case. */
static uint64_t spread_one(struct sim_thread *thread, const struct exit_site *site,
                           uint64_t registers, uint64_t slots, uint64_t now)
{
        uint64_t fresh = 0;
        uint64_t ready = registers != 0
                             ? thread->register_ready[__builtin_ctzll(registers)]
                             : thread->slot_ready[__builtin_ctzll(slots)];

        if (ready <= now)
                return 0;
        for (uint32_t i = 0; i < site->count; i++) {
                const struct exit_register *entry = &site->entries[i];
                if ((entry->registers & registers) == 0 && (entry->slots & slots) == 0)
                        continue;
                fresh |= 1ull << entry->id;
                thread->register_ready[entry->id] = ready;
        }
        return fresh;
}

/* The general case. All assignments happen at once: results wait until every
 * entry has been read. */
static uint64_t spread_many(struct sim_thread *thread, const struct exit_site *site,
                            uint64_t registers, uint64_t slots, uint64_t now)
{
        uint64_t ready[REGISTER_IDS + 1];
        uint64_t fresh = 0;

        for (uint32_t i = 0; i < site->count; i++) {
                const struct exit_register *entry = &site->entries[i];
                uint64_t last =
                    latest(thread->register_ready, entry->registers & registers);
                uint64_t of_slots = latest(thread->slot_ready, entry->slots & slots);
                if (of_slots > last)
                        last = of_slots;
                if (last <= now)
                        continue;
                fresh |= 1ull << entry->id;
                ready[entry->id] = last;
        }
        for (uint64_t rest = fresh; rest != 0; rest &= rest - 1) {
                uint32_t id = (uint32_t)__builtin_ctzll(rest);
                thread->register_ready[id] = ready[id];
        }
        return fresh;
}

void thread_leave_block(struct sim_hot *hot, struct sim_thread *thread,
                        const struct exit_site *site)
{
        uint64_t instruction = hot->instructions;

        thread_retire(hot, thread, instruction);
        uint64_t now = instruction + thread->stall;
        if (thread->last_ready <= now) {
                hot->pending = 0;
                return;
        }

        uint64_t slots = 0;
        if ((hot->pending & SLOT_BIT) != 0 &&
            thread->slot_block == instruction - site->counted)
                slots = site->slots & thread->slots_live;
        uint64_t pending = hot->pending & ~SLOT_BIT;
        uint64_t used = pending & site->registers;
        uint64_t waiting = still_pending(thread, used, now);
        pending &= ~(used & ~waiting);

        uint64_t fresh = 0;
        if ((one_bit(waiting) && slots == 0) || (one_bit(slots) && waiting == 0))
                fresh = spread_one(thread, site, waiting, slots, now);
        else if ((waiting | slots) != 0)
                fresh = spread_many(thread, site, waiting, slots, now);
        hot->pending = (pending & ~site->written) | fresh;
}
