/* SPDX-License-Identifier: MIT */
/* The timing state of one thread of the simulated program: its clock, the loads
 * and stores in its reorder window, and its fill buffers. (When its registers will have
 * their values is in hot.h.) Times are slots on the thread's own clock.
 *
 * Not modelled: sharing of fill buffers by threads on one core. */
#ifndef SIMPMU_MODEL_THREAD_H
#define SIMPMU_MODEL_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "activity.h"
#include "branch_sample.h"
#include "hot.h"
#include "later.h"
#include "places.h"
#include "protocol.h"
#include "sampler.h"
#include "scheduler.h"
#include "tlb.h"
#include "wrong_path.h"

#define WINDOW_ENTRIES 8192u /* a power of two, more than the largest ROB */
#define HELD_STORES    2048u /* a power of two, more than the largest store buffer */
#define EARLY_WORDS    256u
#define NEVER_DUE      UINT64_MAX

/* Totals since the thread's start, times in slots. */
struct sim_counters {
        uint64_t loads_at[SIMPMU_LEVEL_COUNT]; /* that the filters did not let pass */
        uint64_t pending_slots;
        uint64_t fb_full_slots;
        uint64_t sb_full_slots; /* stalled for a place in the store buffer */
        uint64_t sq_full_slots;
        uint64_t mispredicts;       /* branches */
        uint64_t demand_read_lines; /* asked beyond L2 */
        uint64_t demand_rfo_lines;
        uint64_t offcore_lines; /* demand lines and prefetched lines */
        uint64_t dram_read_lines;
        uint64_t demand_dram_lines; /* lines that a load asked for itself */
        uint64_t dram_write_lines;
        uint64_t translated_loads[TLB_OUTCOMES]; /* without loads that bypass the TLB */
        uint64_t split_loads;                    /* across a line border */
        uint64_t split_stores;
        uint64_t unforwarded_loads; /* waited for a store of some of their bytes */
        uint64_t aliased_loads;     /* that waited for a store to another page */
        uint64_t page_faults;
        uint64_t fault_slots; /* in the kernel, for page faults */
        uint64_t call_slots;  /* and for system calls */
};

/* An access that holds its place in the reorder window until it is complete: from
 * instruction DUE on, which needs the place, the thread's stall is at least STALL. */
struct window_entry {
        uint64_t due;
        uint64_t stall;
};

/* A store keeps its place in the store buffer until its own line and the lines of all
 * earlier stores have arrived. Until then it blocks the store that needs its place. */
struct held_store {
        uint64_t blocks; /* the number of stores with that one */
        uint64_t completion;
        void *sample; /* see sim_store_done; NULL: it is not sampled */
};

/* A sampled store, SAMPLE, has left the store buffer. It lengthened the thread's stall
 * by RETIRE_SLOTS beyond the stall of all earlier accesses. */
typedef void (*sim_store_done)(void *sample, uint64_t retire_slots);

/* In program order, followed by an entry that blocks no store. */
struct store_buffer {
        uint64_t head; /* the oldest */
        uint64_t tail;
        uint64_t places;
        uint64_t ring_mask;
        uint64_t blocks; /* the oldest's */
        uint64_t done;   /* when the last store has left the buffer */
        /* The number of stores issued at the last look at the buffer. */
        uint64_t seen_stores;
        uint64_t seen_instruction;
        uint32_t sampled; /* of the held stores */
        sim_store_done on_done;
        struct held_store held[HELD_STORES];
};

/* Accesses in program order. Their stalls are applied late but exactly, at an
 * instruction after DUE. */
struct window {
        uint64_t capacity;    /* instructions that may issue past the oldest access */
        uint64_t entry_limit; /* accesses that fit */
        uint64_t ring_mask;   /* of both rings; only the needed part is used */
        uint64_t number;      /* of accesses so far */
        uint64_t next;        /* the first of STALLING that can still stall the thread */
        uint64_t end;         /* behind the last entry of STALLING */
        uint64_t longest;     /* its stall */
        /* ENTRIES: the last accesses. STALLING: in the order of DUE, the accesses that
         * may stall the thread for longer than all that are due earlier. */
        struct window_entry entries[WINDOW_ENTRIES];
        struct window_entry stalling[WINDOW_ENTRIES];
};

/* A word that is stored while its line is still to come. */
struct stored {
        uint64_t where;
        uint64_t line_arrival; /* when that comes, or came */
};

/* Lines that non-temporal stores gather, the oldest first: see combining.h. */
#define COMBINING_LINES 32u /* the most fill buffers */

struct open_line {
        uint64_t line;
        uint64_t missing; /* bytes that are still to be written, a bit of each */
};

struct combining {
        struct open_line open[COMBINING_LINES];
        uint32_t count;
        uint64_t done; /* when memory has all lines so far */
};

/* The loads and stores counted at the last look at the ports. */
struct ports_use {
        uint64_t loads;   /* split loads count twice */
        uint64_t repeats; /* of aliased loads */
        uint64_t stores;
        uint64_t clock;
};

struct core;

struct sim_thread {
        /* Every access looks at these: one line of the host's cache. */
        struct core *core;
        uint64_t stall;      /* slots that no instruction used, idle ones included */
        uint64_t retire_at;  /* later instructions may have to wait for a window */
        uint64_t deadline;   /* the clock of the block check's next call */
        uint64_t idle;       /* the part of stall while the thread was not running */
        uint64_t full_until; /* requests have waited for fill buffers until then */
        uint64_t fold_at;    /* the clock at which a stretch of ACTIVITY ends */
        uint64_t look_at;    /* the next instruction that checks the ready times of
                                registers; NEVER_DUE if values are not tracked */

        uint64_t retired; /* as stall, but of retirement: by the loads that are late */
        uint64_t waited;  /* the slots by which chains delayed retirement behind all
                             loads, since a sample of instructions had them */
        uint64_t next_samples; /* of the instruction that runs next */
        uint64_t refilled;     /* the first instruction after the last wrong prediction */
        uint64_t fetch_restart; /* as stall: when the front end last began anew */
        uint64_t fetch_slack;   /* see fetch.h */
        double load_slots;      /* average port time of a load */
        double repeat_slots;    /* the same of an aliased load, once more */
        double store_slots;
        struct ports_use ports;
        struct branch_sample branches;
        struct sim_counters counters;
        struct activity activity;
        struct sampler sampler;
        struct sampler store_sampler;
        struct stored stored_word[EARLY_WORDS];
        struct window loads;
        struct store_buffer stores;
        struct combining combining;
        struct scheduler *scheduler_of[SCHEDULER_KINDS];
        struct scheduler schedulers[SCHEDULER_KINDS];
        struct places fill_buffers;
        struct wrong_path wrong;
};

static inline struct window_entry *window_at(struct window *window, uint64_t number)
{
        return &window->entries[number & window->ring_mask];
}

/* Entry NUMBER of the accesses that may stall the thread. */
static inline struct window_entry *window_stalling_at(struct window *window,
                                                      uint64_t number)
{
        return &window->stalling[number & window->ring_mask];
}

/* The thread does not run for SLOTS of its clock. */
static inline void thread_pause(struct sim_thread *thread, uint64_t slots)
{
        thread->stall += slots;
        thread->idle += slots;
        thread->retired = later(thread->retired, thread->stall);
}

/* The kernel runs for the thread for SLOTS; the thread's own instructions do not run
 * then. */
static inline void thread_serve(struct sim_thread *thread, uint64_t slots)
{
        thread->stall += slots;
        thread->retired = later(thread->retired, thread->stall);
}

/* The thread's stall and limits for generated code. */
static inline void stall_to_hot(struct sim_hot *hot, const struct sim_thread *thread)
{
        hot->stall = thread->stall;
        hot->branch_limit = thread->branches.begin;
        uint64_t limit =
            thread->deadline > thread->stall ? thread->deadline - thread->stall : 0;

        hot->instruction_limit = limit < thread->look_at ? limit : thread->look_at;
        hot->fetch_limit = thread->wrong.followed ? FETCH_EACH_STRETCH
                                                  : thread->stall + thread->fetch_slack;
}

/* The cold half of window_hold. */
void thread_take_place(struct sim_thread *thread, struct window *window,
                       uint64_t instruction, uint64_t due, uint64_t completion);

/* An access of INSTRUCTION completes at COMPLETION. It takes its place in WINDOW if it
 * still holds the place once the window has filled up behind it, except for UNREACHED
 * entries. An access that completes earlier can never stall the thread and is not kept.
 */
static inline void window_hold(struct sim_thread *thread, struct window *window,
                               uint64_t instruction, uint64_t unreached,
                               uint64_t completion)
{
        uint64_t due = instruction + window->capacity - unreached;

        if (completion > due + thread->stall)
                thread_take_place(thread, window, instruction, due, completion);
}

/* INSTRUCTION is store number STORES. Its line arrives at COMPLETION. Stores leave the
 * buffer in program order; each store takes a place when it issues. A store is not
 * kept if it has left before the buffer can fill up behind it. SAMPLE: the store's
 * sample, or NULL. */
void thread_hold_store(struct sim_thread *thread, uint64_t instruction, uint64_t stores,
                       uint64_t completion, void *sample);

/* The thread's clock stands at NOW: sampled stores whose lines have come by then will not
 * stall it any more. */
void thread_finish_stores(struct sim_thread *thread, uint64_t now);

/* The cold half of thread_issue_stores. */
void thread_wait_for_store_buffer(struct sim_hot *hot, struct sim_thread *thread,
                                  uint64_t instruction, uint64_t stores);

/* STORES stores have issued when INSTRUCTION issues, itself included. Adds the stall
 * of the stores that had to wait for a place. */
static inline void thread_issue_stores(struct sim_hot *hot, struct sim_thread *thread,
                                       uint64_t instruction, uint64_t stores)
{
        if (__builtin_expect(stores >= thread->stores.blocks, 0))
                thread_wait_for_store_buffer(hot, thread, instruction, stores);
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

/* The cold half of thread_fold. */
void thread_fold_activity(const struct sim_hot *hot, struct sim_thread *thread,
                          uint64_t now);

/* The thread's clock stands at NOW. */
static inline void thread_fold(const struct sim_hot *hot, struct sim_thread *thread,
                               uint64_t now)
{
        if (__builtin_expect(now >= thread->fold_at, 0))
                thread_fold_activity(hot, thread, now);
}

/* Accounts for limits that slow a thread down without an L1 miss, a few times in a
 * window's length. Loads and stores cannot execute faster than their ports accept
 * them. A chain of dependent instructions can be slower than its issue. Such a chain
 * shows in the ready times of registers: the latest ready time holds a place in the
 * window, as a load does. */
void thread_look_at_code(struct sim_hot *hot, struct sim_thread *thread);

/* The last instruction counted is a mispredicted branch that executes at DECIDED.
 * Later instructions issue COST slots after that. It stands for WEIGHT of its kind: later
 * instructions wait so many times as long. Returns that wait up to DECIDED, in slots. */
uint64_t thread_mispredict(struct sim_hot *hot, struct sim_thread *thread,
                           uint64_t decided, uint64_t cost, uint32_t weight);

/* INSTRUCTION is a locked instruction or a fence. It waits for all earlier loads and
 * stores and until READY. Later instructions wait for another COST slots. */
void thread_serialise(struct sim_hot *hot, struct sim_thread *thread,
                      uint64_t instruction, uint64_t ready, uint64_t cost);

/* A thread that has run nothing yet, its clock at START; THREAD is all zero. */
void thread_init(struct sim_thread *thread, struct core *core, uint64_t start,
                 uint32_t rob_entries, uint32_t load_buffer_entries,
                 uint32_t store_buffer_entries);

#endif
