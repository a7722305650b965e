/* SPDX-License-Identifier: MIT */
/* The timing state of one thread of the simulated program: its clock, the loads
 * and stores in its reorder window, its fill buffers, and when its registers will
 * have their values. Times are slots (hot.h) on the thread's own clock.
 *
 * Not modelled: latency of arithmetic and of L1 hits in chains, mispredicted
 * branches, hardware prefetchers (they would request lines in access.h where a
 * miss is found), sharing of fill buffers by threads on one core. */
#ifndef SIMPMU_MODEL_THREAD_H
#define SIMPMU_MODEL_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "hot.h"
#include "sampler.h"

#define WINDOW_ENTRIES      4096u /* a power of two, at least the largest ROB */
#define FILL_BUFFER_MAXIMUM 32u
#define IN_FLIGHT_ENTRIES   256u
#define STORED_WORDS        256u
#define STORED_LINES        64u
#define NO_BLOCK            UINT64_MAX

/* Totals since the thread's start, times in slots. */
struct sim_counters {
        uint64_t pending_slots;
        uint64_t l1_miss;
        uint64_t fb_hit;
        uint64_t fb_full_slots;
        uint64_t dram_read_lines;
        uint64_t dram_write_lines;
};

/* An access that holds its place in the reorder window or store buffer. */
struct window_entry {
        uint64_t instruction;
        uint64_t completion;
};

/* Accesses in program order. Applied late but exactly: an entry matters when the
 * instruction that needs its place issues. */
struct window {
        uint64_t head; /* the oldest */
        uint64_t tail;
        uint64_t capacity;    /* instructions that may issue past the oldest access */
        uint64_t entry_limit; /* accesses that fit, at most WINDOW_ENTRIES */
        struct window_entry entries[WINDOW_ENTRIES];
};

/* A line requested and not yet there, by its number. */
struct in_flight {
        uint64_t line;
        uint64_t completion;
        bool dirty;     /* a store has been here: L1 knows */
        bool for_loads; /* it counts as pending; stores' fills do not, see miss.h */
};

/* A word or line whose stored value is still to come. */
struct stored {
        uint64_t where;
        uint64_t ready;
};

struct core;

struct sim_thread {
        /* Every access looks at these: one line of the host's cache. */
        struct core *core;
        uint64_t stall;      /* slots that no instruction used, idle ones included */
        uint64_t retire_at;  /* later instructions may have to wait for a window */
        uint64_t last_ready; /* when the last outstanding load delivers */
        uint64_t last_fill;  /* when the last fill buffer is free again */
        uint64_t slot_block; /* instruction count at the entry of the block meant */
        uint64_t slots_live;
        uint64_t deadline; /* the clock at which the block check calls the tool */

        uint64_t idle;       /* the part of stall in which the thread did not run */
        uint64_t full_until; /* fill buffers have been full until then */
        uint64_t register_ready[REGISTER_IDS + 1];
        uint64_t slot_ready[64]; /* loads of the block that slot_block means */

        struct sim_counters counters;
        struct sampler sampler;
        uint64_t fill_buffer[FILL_BUFFER_MAXIMUM]; /* when each is free again */
        struct in_flight in_flight[IN_FLIGHT_ENTRIES];
        struct stored stored_word[STORED_WORDS];
        struct stored stored_line[STORED_LINES];
        struct window loads;
        struct window stores;
};

static inline void deadline_to_limit(struct sim_hot *hot, const struct sim_thread *thread)
{
        hot->instruction_limit =
            thread->deadline > thread->stall ? thread->deadline - thread->stall : 0;
}

/* The last instruction that may issue while the window's oldest access is out. */
static inline uint64_t window_limit(const struct window *window)
{
        if (window->head == window->tail)
                return UINT64_MAX;
        return window->entries[window->head & (WINDOW_ENTRIES - 1)].instruction +
               window->capacity;
}

/* The oldest access has to complete before INSTRUCTION issues. */
static inline void window_wait(struct sim_hot *hot, struct sim_thread *thread,
                               struct window *window, uint64_t instruction)
{
        uint64_t completion =
            window->entries[window->head & (WINDOW_ENTRIES - 1)].completion;

        window->head++;
        if (completion > instruction + thread->stall) {
                thread->stall = completion - instruction;
                deadline_to_limit(hot, thread);
        }
}

/* An access of INSTRUCTION that completes at COMPLETION takes its place. */
static inline void window_push(struct sim_hot *hot, struct sim_thread *thread,
                               struct window *window, uint64_t instruction,
                               uint64_t completion)
{
        if (window->tail - window->head == window->entry_limit)
                window_wait(hot, thread, window, instruction);
        window->entries[window->tail++ & (WINDOW_ENTRIES - 1)] =
            (struct window_entry){instruction, completion};
        if (instruction + window->capacity < thread->retire_at)
                thread->retire_at = instruction + window->capacity;
}

/* The cold half of thread_retire. */
void thread_retire_windows(struct sim_hot *hot, struct sim_thread *thread,
                           uint64_t instruction);

/* INSTRUCTION issues: adds the stall that its place in the windows costs. */
static inline void thread_retire(struct sim_hot *hot, struct sim_thread *thread,
                                 uint64_t instruction)
{
        if (__builtin_expect(instruction > thread->retire_at, 0))
                thread_retire_windows(hot, thread, instruction);
}

/* The block at whose entry ENTRY instructions had retired: its load number SLOT
 * delivers at READY. */
static inline void slot_set(struct sim_hot *hot, struct sim_thread *thread, uint32_t slot,
                            uint64_t entry, uint64_t ready)
{
        uint64_t bit = 1ull << slot;

        if (thread->slot_block != entry) {
                thread->slot_block = entry;
                thread->slots_live = 0;
        }
        if ((thread->slots_live & bit) != 0 && thread->slot_ready[slot] >= ready)
                return;
        thread->slots_live |= bit;
        thread->slot_ready[slot] = ready;
        hot->pending |= SLOT_BIT;
}

static inline uint64_t latest(const uint64_t *ready, uint64_t mask)
{
        uint64_t last = 0;

        for (; mask != 0; mask &= mask - 1) {
                uint64_t time = ready[__builtin_ctzll(mask)];
                if (time > last)
                        last = time;
        }
        return last;
}

/* When everything in REGISTERS and SLOTS is there; 0 when nothing is outstanding. */
static inline uint64_t dependence_ready(const struct sim_hot *hot,
                                        const struct sim_thread *thread,
                                        uint64_t registers, uint64_t slots,
                                        uint64_t entry)
{
        uint64_t ready =
            latest(thread->register_ready, registers & hot->pending & ~SLOT_BIT);

        if (slots != 0 && thread->slot_block == entry) {
                uint64_t of_slots =
                    latest(thread->slot_ready, slots & thread->slots_live);
                if (of_slots > ready)
                        ready = of_slots;
        }
        return ready;
}

/* Where the instruction stream leaves a block: what the registers written in it
 * depend on. */
struct exit_register {
        uint64_t registers;
        uint64_t slots;
        uint32_t id;
        uint32_t reserved;
};

struct exit_site {
        uint64_t written;   /* registers that get a new dependence or none */
        uint64_t registers; /* union over the entries */
        uint64_t slots;
        uint32_t counted; /* instructions from the block's entry */
        uint32_t count;
        struct exit_register entries[];
};

/* Gives the registers written in the block their ready times. */
void thread_leave_block(struct sim_hot *hot, struct sim_thread *thread,
                        const struct exit_site *site);

/* A thread that has run nothing yet, its clock at START; THREAD is all zero. */
void thread_init(struct sim_thread *thread, struct core *core, uint64_t start,
                 uint32_t rob_entries, uint32_t store_buffer_entries);

#endif
