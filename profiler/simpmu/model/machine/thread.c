/* SPDX-License-Identifier: MIT */
/* Ready times across block boundaries: see thread.h. */
#include "thread.h"

#include <emmintrin.h>

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
}

/* A load waits for a place after its request: the window keeps one load less. */
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
        thread->fetch_restart = start;
        thread->deadline = UINT64_MAX;
        thread->retire_at = NEVER_DUE;
        thread->look_at = NEVER_DUE;
        thread->branches = branch_sample_all();
        window_init(&thread->loads, rob_entries,
                    load_places(rob_entries, load_buffer_entries));
        thread->stores.places = store_buffer_entries;
        thread->stores.ring_mask = UINT32_MAX >> __builtin_clz(store_buffer_entries);
        thread->stores.blocks = thread->stores.held[0].blocks = NEVER_DUE;
}

/* Adds the stalls of all accesses in WINDOW that are due when INSTRUCTION issues; returns
 * when the next one is that stalls the thread for longer. */
static uint64_t retire_window(struct sim_thread *thread, struct window *window,
                              uint64_t instruction)
{
        uint64_t stall = thread->stall, next = window->next;
        uint64_t due = NEVER_DUE;

        for (; next != window->end; next++) {
                const struct window_entry *entry = window_stalling_at(window, next);
                if (instruction <= entry->due && stall < entry->stall) {
                        due = entry->due;
                        break;
                }
                stall = later(stall, entry->stall);
        }
        window->next = next;
        thread->stall = stall;
        return due;
}

void thread_retire_windows(struct sim_hot *hot, struct sim_thread *thread,
                           uint64_t instruction)
{
        thread->retire_at = retire_window(thread, &thread->loads, instruction);
        stall_to_hot(hot, thread);
}

static struct held_store *oldest_held(struct store_buffer *buffer)
{
        return &buffer->held[buffer->head & buffer->ring_mask];
}

/* HELD has stalled the thread for RETIRE_SLOTS. */
static void finish_store(struct store_buffer *buffer, struct held_store *held,
                         uint64_t retire_slots)
{
        if (held->sample == NULL)
                return;
        buffer->on_done(held->sample, retire_slots);
        held->sample = NULL;
        buffer->sampled--;
}

void thread_finish_stores(struct sim_thread *thread, uint64_t now)
{
        struct store_buffer *buffer = &thread->stores;

        for (uint64_t i = buffer->head; buffer->sampled > 0 && i != buffer->tail; i++) {
                struct held_store *held = &buffer->held[i & buffer->ring_mask];
                if (held->completion <= now)
                        finish_store(buffer, held, 0);
        }
}

void thread_hold_store(struct sim_thread *thread, uint64_t instruction, uint64_t stores,
                       uint64_t completion, void *sample)
{
        struct store_buffer *buffer = &thread->stores;
        const uint64_t blocks = stores + buffer->places;

        buffer->done = later(buffer->done, completion);
        if (buffer->done <= instruction + thread->stall + buffer->places) {
                if (sample != NULL)
                        buffer->on_done(sample, 0);
                return;
        }
        buffer->sampled += sample != NULL;
        if (buffer->tail > buffer->head && /* it waits for a second line */
            buffer->held[(buffer->tail - 1) & buffer->ring_mask].blocks == blocks) {
                struct held_store *first =
                    &buffer->held[--buffer->tail & buffer->ring_mask];
                if (sample != NULL)
                        finish_store(buffer, first, 0);
                else
                        sample = first->sample;
        }
        buffer->held[buffer->tail++ & buffer->ring_mask] =
            (struct held_store){blocks, buffer->done, sample};
        buffer->held[buffer->tail & buffer->ring_mask].blocks = NEVER_DUE;
        buffer->blocks = oldest_held(buffer)->blocks;
        buffer->seen_stores = stores;
        buffer->seen_instruction = instruction;
}

/* The instruction number of store STORE, with STORE at most STORES, the number of
 * stores up to INSTRUCTION. Assumes that stores lie evenly in the program. */
static uint64_t instruction_of_store(const struct store_buffer *buffer, uint64_t store,
                                     uint64_t stores, uint64_t instruction)
{
        uint64_t part = store - buffer->seen_stores;
        uint64_t whole = stores - buffer->seen_stores;

        return store < stores
                   ? buffer->seen_instruction +
                         (instruction - buffer->seen_instruction) * part / whole
                   : instruction;
}

void thread_wait_for_store_buffer(struct sim_hot *hot, struct sim_thread *thread,
                                  uint64_t instruction, uint64_t stores)
{
        struct store_buffer *buffer = &thread->stores;
        uint64_t before = thread->stall;

        for (; stores >= oldest_held(buffer)->blocks; buffer->head++) {
                struct held_store *held = oldest_held(buffer);
                uint64_t blocked =
                    instruction_of_store(buffer, held->blocks, stores, instruction);
                uint64_t retired = later(thread->stall, thread->retired);
                if (held->completion > blocked)
                        thread->stall = later(thread->stall, held->completion - blocked);
                finish_store(buffer, held, later(thread->stall, retired) - retired);
        }
        thread->counters.sb_full_slots += thread->stall - before;
        buffer->blocks = oldest_held(buffer)->blocks;
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

/* All stores leave the buffer; the thread waits for that from NOW on. */
static void drain_stores(struct sim_thread *thread, uint64_t now)
{
        struct store_buffer *buffer = &thread->stores;
        uint64_t waited = later(now, thread->activity.covers[ACTIVITY_LDM].until);

        for (; buffer->head != buffer->tail; buffer->head++) {
                struct held_store *held = oldest_held(buffer);
                finish_store(buffer, held, later(held->completion, waited) - waited);
                waited = later(held->completion, waited);
        }
        buffer->blocks = NEVER_DUE;
}

void thread_serialise(struct sim_hot *hot, struct sim_thread *thread,
                      uint64_t instruction, uint64_t ready, uint64_t cost)
{
        thread_retire(hot, thread, instruction);
        uint64_t now = instruction + thread->stall;
        uint64_t done =
            later(thread->stores.done, thread->activity.covers[ACTIVITY_LDM].until);

        drain_stores(thread, now);
        thread->stall += later(later(now, done), ready) + cost - now;
        stall_to_hot(hot, thread);
}

uint64_t thread_mispredict(struct sim_hot *hot, struct sim_thread *thread,
                           uint64_t decided, uint64_t cost, uint32_t weight)
{
        thread_retire(hot, thread, hot->instructions);
        const uint64_t now = hot->instructions + thread->stall;
        const uint64_t until_decided = (later(now, decided) - now) * weight;

        thread->counters.mispredicts += weight;
        thread->retired = later(thread->retired, later(now, decided) - hot->instructions);
        thread->refilled = hot->instructions;
        thread->stall += until_decided + cost * weight;
        thread->fetch_restart = hot->fetched = thread->stall;
        if (thread->look_at != NEVER_DUE)
                thread->look_at = hot->instructions; /* no chain begins before that */
        stall_to_hot(hot, thread);
        return until_decided;
}

/* Adds the slots in which loads and stores wait for their ports and nothing issues. */
static void wait_for_ports(struct sim_hot *hot, struct sim_thread *thread)
{
        struct ports_use *before = &thread->ports;
        uint64_t passed = hot->instructions + thread->stall - before->clock;
        const struct ports_use now = {
            .loads = hot->loads + thread->counters.split_loads,
            .repeats = thread->counters.aliased_loads,
            .stores = hot->stores + thread->counters.split_stores,
        };
        double loads = (double)(now.loads - before->loads) * thread->load_slots +
                       (double)(now.repeats - before->repeats) * thread->repeat_slots;
        double stores = (double)(now.stores - before->stores) * thread->store_slots;
        uint64_t needed = (uint64_t)(loads > stores ? loads : stores);

        if (needed > passed) {
                thread->stall += needed - passed;
                hot->busy += needed - passed;
        }
        *before = now;
        before->clock = hot->instructions + thread->stall;
}

/* Raises the ready times of registers to NOW at least, and returns the latest. Works
 * on pairs: every host has a maximum of two pairs of doubles. Their bits order like
 * integers below the bits of infinity, 2^62 and more. */
static uint64_t bring_registers_to(struct sim_hot *hot, uint64_t now)
{
        const __m128d then = _mm_castsi128_pd(_mm_set1_epi64x((int64_t)now));
        double *ready = (double *)(void *)&hot->ready[FIRST_REGISTER];
        /* Of every other pair each: they need not wait for each other. */
        __m128d latest[2] = {_mm_setzero_pd(), _mm_setzero_pd()};
        uint64_t of_pair[2];

        _Static_assert((FIRST_SLOT - FIRST_REGISTER) % 2 == 0, "registers come in pairs");
#pragma GCC unroll 32
        for (uint32_t i = 0; i < FIRST_SLOT - FIRST_REGISTER; i += 2) {
                __m128d pair = _mm_loadu_pd(&ready[i]);
                latest[i / 2 % 2] = _mm_max_pd(latest[i / 2 % 2], pair);
                _mm_storeu_pd(&ready[i], _mm_max_pd(pair, then));
        }
        _mm_storeu_pd((double *)(void *)of_pair, _mm_max_pd(latest[0], latest[1]));
        return later(of_pair[0], of_pair[1]);
}

void thread_look_at_code(struct sim_hot *hot, struct sim_thread *thread)
{
        const uint64_t capacity = thread->loads.capacity;

        thread_retire(hot, thread, hot->instructions);
        thread_issue_stores(hot, thread, hot->instructions, hot->stores);
        wait_for_ports(hot, thread);
        uint64_t now = hot->instructions + thread->stall;
        const uint64_t latest = bring_registers_to(hot, now);

        window_hold(thread, &thread->loads, hot->instructions, 0, latest);
        hot->late_until = later(hot->late_until, latest);
        if (latest > hot->instructions) {
                const uint64_t until = latest - hot->instructions;
                const uint64_t from = later(thread->retired, thread->stall);
                thread->waited += until > from ? until - from : 0;
                thread->retired = later(thread->retired, until);
        }
        thread->look_at = hot->instructions + (latest > now + capacity / LOOKS_PER_WINDOW
                                                   ? capacity / LOOKS_PER_WINDOW
                                                   : capacity);
        stall_to_hot(hot, thread);
}

/* The accesses that may stall the thread exceed the ring. The first of them have
 * already left their places, and the thread has waited for them. */
static __attribute__((noinline)) void drop_given_up(const struct sim_thread *thread,
                                                    struct window *window)
{
        while (window->next != window->end &&
               window_stalling_at(window, window->next)->stall <= thread->stall)
                window->next++;
}

/* ENTRY is due before others. It comes among them unless an earlier one stalls the thread
 * for as long, and takes the place of later ones that stall it for no longer. */
static __attribute__((noinline)) void insert_stalling(struct window *window,
                                                      struct window_entry entry)
{
        uint64_t at = window->end;

        while (at != window->next && window_stalling_at(window, at - 1)->due > entry.due)
                at--;
        if (at != window->next &&
            window_stalling_at(window, at - 1)->stall >= entry.stall)
                return;
        uint64_t kept = at;
        while (kept != window->end &&
               window_stalling_at(window, kept)->stall <= entry.stall)
                kept++;
        const uint64_t rest = window->end - kept;
        if (kept > at)
                for (uint64_t i = 0; i < rest; i++)
                        *window_stalling_at(window, at + 1 + i) =
                            *window_stalling_at(window, kept + i);
        else
                for (uint64_t i = rest; i > 0; i--)
                        *window_stalling_at(window, at + i) =
                            *window_stalling_at(window, at + i - 1);
        *window_stalling_at(window, at) = entry;
        window->end = at + 1 + rest;
        window->longest = later(window->longest, entry.stall);
}

/* Appends ENTRY only if its stall is longer than all earlier stalls. Uses no branch,
 * because the outcome is unpredictable. */
static void note_stalling(const struct sim_thread *thread, struct window *window,
                          struct window_entry entry)
{
        if (__builtin_expect(window->end - window->next > window->ring_mask, 0))
                drop_given_up(thread, window);
        if (window->end != window->next &&
            window_stalling_at(window, window->end - 1)->due > entry.due) {
                insert_stalling(window, entry);
                return;
        }
        *window_stalling_at(window, window->end) = entry;
        window->end += entry.stall > window->longest;
        window->longest = later(window->longest, entry.stall);
}

/* When all places are taken, the oldest access leaves its place: INSTRUCTION waits for
 * it if it is not complete. (Before the first access, its entry is all zero.) */
void thread_take_place(struct sim_thread *thread, struct window *window,
                       uint64_t instruction, uint64_t due, uint64_t completion)
{
        const uint64_t number = window->number;
        const struct window_entry entry = {due, completion - due};
        const struct window_entry *oldest =
            window_at(window, number - window->entry_limit);

        if (oldest->due >= instruction)
                thread->stall =
                    later(thread->stall, oldest->due + oldest->stall - instruction);
        *window_at(window, number) = entry;
        window->number = number + 1;
        note_stalling(thread, window, entry);
        thread->retire_at = due < thread->retire_at ? due : thread->retire_at;
}
