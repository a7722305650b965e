/* SPDX-License-Identifier: MIT */
/* Ready times across block boundaries: see thread.h. */
#include "thread.h"

/* The store buffer holds so many stores, of which the model sees those that miss. How
 * many instructions issue while the others fill it up is taken from ordinary code. */
#define INSTRUCTIONS_PER_STORE 8u

/* The more, the more exactly a slow chain holds the thread up, where there is one. */
#define LOOKS_PER_WINDOW 2u

/* A stretch of activity is long against a miss, and short against a phase of a program.
 */
#define STRETCH_SLOTS 16384u

static void window_init(struct window *window, uint64_t capacity, uint32_t entries)
{
        window->capacity = capacity;
        window->entry_limit = entries;
        window->ring_mask = UINT32_MAX >> __builtin_clz(entries); /* at least entries */
        window->entries[0].due = NEVER_DUE;
}

/* A load waits for a place when it has been asked for already: one less are kept. */
static uint32_t load_places(uint32_t rob_entries, uint32_t load_buffer_entries)
{
        if (load_buffer_entries > rob_entries)
                return rob_entries;
        return load_buffer_entries > 1 ? load_buffer_entries - 1 : 1;
}

void thread_init(struct sim_thread *thread, struct core *core, uint64_t start,
                 uint32_t rob_entries, uint32_t load_buffer_entries,
                 uint32_t store_buffer_entries)
{
        thread->core = core;
        thread->stall = start;
        thread->idle = start;
        thread->deadline = UINT64_MAX;
        thread->retire_at = NEVER_DUE;
        thread->look_at = NEVER_DUE;
        thread->fill_count = 1; /* and it is free */
        window_init(&thread->loads, rob_entries,
                    load_places(rob_entries, load_buffer_entries));
        window_init(&thread->stores, store_buffer_entries * INSTRUCTIONS_PER_STORE,
                    store_buffer_entries);
}

/* Adds the stalls of all accesses in WINDOW that are due when INSTRUCTION issues; returns
 * when the next one is. */
static uint64_t retire_window(struct sim_thread *thread, struct window *window,
                              uint64_t instruction)
{
        for (; instruction > window_oldest(window)->due; window->head++)
                thread->stall = later(thread->stall, window_oldest(window)->stall);
        return window_oldest(window)->due;
}

void thread_retire_windows(struct sim_hot *hot, struct sim_thread *thread,
                           uint64_t instruction)
{
        uint64_t load_due = retire_window(thread, &thread->loads, instruction);
        uint64_t without_stores = thread->stall;
        uint64_t store_due = retire_window(thread, &thread->stores, instruction);

        thread->counters.sb_full_slots += thread->stall - without_stores;

        thread->retire_at = load_due < store_due ? load_due : store_due;
        stall_to_hot(hot, thread);
}

void thread_fold_activity(const struct sim_hot *hot, struct sim_thread *thread,
                          uint64_t now)
{
        uint64_t instructions = now - thread->stall;

        activity_fold(&thread->activity, now, now - thread->idle,
                      instructions + hot->busy);
        thread->fold_at = now + STRETCH_SLOTS;
}

void thread_serialise(struct sim_hot *hot, struct sim_thread *thread,
                      uint64_t instruction, uint64_t cost)
{
        thread_retire(hot, thread, instruction);
        uint64_t now = instruction + thread->stall;
        uint64_t done =
            later(thread->stores_done, thread->activity.covers[ACTIVITY_LDM].until);

        thread->stall += later(now, done) + cost - now;
        stall_to_hot(hot, thread);
}

void thread_mispredict(struct sim_hot *hot, struct sim_thread *thread, uint64_t decided,
                       uint64_t cost)
{
        thread_retire(hot, thread, hot->instructions);
        uint64_t now = hot->instructions + thread->stall;

        thread->counters.mispredicts++;
        thread->retired = later(thread->retired, later(now, decided) - hot->instructions);
        thread->refilled = hot->instructions;
        thread->stall += later(now, decided) + cost - now;
        if (thread->look_at != NEVER_DUE)
                thread->look_at = hot->instructions; /* no chain begins before that */
        stall_to_hot(hot, thread);
}

/* Loads and stores execute in the slots in which nothing issues because of their ports.
 */
static void wait_for_ports(struct sim_hot *hot, struct sim_thread *thread)
{
        struct ports_use *before = &thread->ports;
        uint64_t passed = hot->instructions + thread->stall - before->clock;
        double loads = (double)(hot->loads - before->loads) * thread->load_slots;
        double stores = (double)(hot->stores - before->stores) * thread->store_slots;
        uint64_t needed = (uint64_t)(loads > stores ? loads : stores);

        if (needed > passed) {
                thread->stall += needed - passed;
                hot->busy += needed - passed;
        }
        *before = (struct ports_use){hot->loads, hot->stores,
                                     hot->instructions + thread->stall};
}

void thread_look_at_code(struct sim_hot *hot, struct sim_thread *thread)
{
        const uint64_t capacity = thread->loads.capacity;
        uint64_t latest = 0;

        thread_retire(hot, thread, hot->instructions);
        wait_for_ports(hot, thread);
        uint64_t now = hot->instructions + thread->stall;
#pragma GCC unroll 8
        for (uint32_t id = FIRST_REGISTER; id < FIRST_SLOT; id++) {
                latest = later(latest, hot->ready[id]);
                hot->ready[id] = later(hot->ready[id], now);
        }
        window_hold(thread, &thread->loads, hot->instructions, latest);
        if (latest > hot->instructions)
                thread->retired = later(thread->retired, latest - hot->instructions);
        thread->look_at = hot->instructions + (latest > now + capacity / LOOKS_PER_WINDOW
                                                   ? capacity / LOOKS_PER_WINDOW
                                                   : capacity);
        stall_to_hot(hot, thread);
}

void thread_wait_for_place(struct sim_thread *thread, struct window *window,
                           uint64_t instruction)
{
        const struct window_entry *oldest = window_oldest(window);
        uint64_t completion = oldest->due + oldest->stall;

        if (completion > instruction + thread->stall) {
                uint64_t stall = completion - instruction;
                if (window == &thread->stores)
                        thread->counters.sb_full_slots += stall - thread->stall;
                thread->stall = stall;
        }
        window->head++;
}
