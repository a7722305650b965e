/* SPDX-License-Identifier: MIT */
/* The path of a missing line beyond L1: L2, L3 and memory, the fill buffer that waits
 * for it, and its removal from other cores. */
#ifndef SIMPMU_MODEL_MISS_H
#define SIMPMU_MODEL_MISS_H

#include "coherence.h"
#include "machine.h"
#include "prefetch.h"

struct miss {
        uint64_t begin;      /* when it has its fill buffer and asks L2 */
        uint64_t completion; /* when the line is in L1 */
        enum simpmu_level level;
        bool contested;   /* see contest.h */
        bool from_beyond; /* L2, where nothing had used the line */
};

/* The dirty LINE leaves L1 at NOW, by the path on which lines come from L2, unless it has
 * one of its own. */
void miss_write_back(struct machine *machine, struct sim_thread *thread, uint64_t line,
                     uint64_t now);

/* A modified LINE of a core on NODE has been read by another core. */
void miss_write_back_to_l3(struct machine *machine, struct sim_thread *thread,
                           struct node *node, uint64_t line, uint64_t now);

/* The program flushes LINE: every cache loses it, and memory gets it where it is dirty.
 */
void miss_flush(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint64_t now);

/* All of LINE is written past the caches, which lose it. It can leave for memory at
 * START; the thread's clock stands at NOW. */
struct miss miss_write_past(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, uint64_t line, uint64_t start,
                            uint64_t now);

/* A prefetch to L2 of a LINE that is not there: from other cores or beyond. */
uint64_t miss_in_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                    uint64_t begin, enum simpmu_level *level);

/* A request waits for a fill buffer from START to BEGIN. */
void miss_count_full(struct sim_thread *thread, uint64_t start, uint64_t begin);

/* A request that could have begun at START holds a fill buffer from BEGIN until DONE. */
static inline void miss_hold_buffer(struct sim_thread *thread, uint64_t start,
                                    uint64_t begin, uint64_t done)
{
        if (__builtin_expect(begin > start, 0))
                miss_count_full(thread, start, begin);
        places_hold(&thread->fill_buffers, begin, done);
}

/* A line that the kernel writes and that is not in L1. */
struct kernel_line {
        uint64_t line;
        bool whole;                 /* memory need not be read */
        struct cache_victim victim; /* L1's victim */
};

/* Brings the line of KERNEL into the levels that lack it and takes it from other cores.
 * The core's own requests do not wait for that. */
void miss_for_kernel(struct machine *machine, struct sim_thread *thread,
                     const struct kernel_line *kernel, uint64_t now, bool *contested);

/* How long it takes to take a line from OTHERS. */
static inline uint64_t miss_invalidation(const struct machine *machine,
                                         enum others others)
{
        if (others == OTHERS_NOTHING)
                return 0;
        return others == OTHERS_FAR_CLEAN || others == OTHERS_FAR_MODIFIED
                   ? machine->remote_cache_latency
                   : machine->l3_latency;
}

/* At NOW the thread's core writes LINE, which it has clean: other cores lose theirs.
 * Returns how long that takes. */
static inline uint64_t miss_take_ownership(struct machine *machine,
                                           struct sim_thread *thread, uint64_t line,
                                           uint64_t now, bool *contested)
{
        if (__builtin_expect(!coherence_is_shared(machine, thread, line), 1))
                return 0;
        return miss_invalidation(
            machine, coherence_request(machine, thread, line, true, now, contested));
}

/* Requests of CORE beyond L2 may be more than its queue has places. */
static inline bool miss_queue_counts(const struct machine *machine,
                                     const struct core *core)
{
        return core->queue_fills || machine->prefetch != 0;
}

/* A request has a place in CORE's queue from ASKED until DONE; the lines that it has
 * pushed out to memory take the places behind it. */
void miss_hold_place(const struct machine *machine, struct core *core, uint64_t asked,
                     uint64_t done);

/* Fewer than three quarters of the fill buffers are in use at NOW. */
static inline bool miss_few_in_progress(const struct sim_thread *thread, uint64_t now)
{
        return places_fewer(&thread->fill_buffers, now,
                            (3 * thread->fill_buffers.count + 3) / 4);
}

/* A line that has missed L1, and who asks for it. */
struct miss_request {
        uint64_t line;
        uint64_t start; /* when it could begin */
        uint64_t begin; /* when it has a fill buffer */
        bool in_l2;
        bool writes;   /* no other core may keep it */
        bool for_load; /* as for miss_fill */
};

/* The result of a request; small enough to stay in registers. */
struct miss_answer {
        uint64_t completion; /* at the earliest */
        uint32_t latency;    /* without waiting in queues */
        uint8_t level;       /* enum simpmu_level */
        bool contested;
};

/* The cold half of miss_fill: any case except an L2 hit by the only active core.
 * REQUEST may have to begin later. */
struct miss_answer miss_fill_otherwise(struct machine *machine, struct sim_thread *thread,
                                       struct miss_request *request);

/* How long a set of L1 is busy with one line that comes from LEVEL. */
static inline uint64_t miss_turn(const struct machine *machine, enum simpmu_level level)
{
        return level == SIMPMU_LEVEL_L2 ? machine->set_interval_l2
                                        : machine->set_interval_l3;
}

/* The thread's clock stands at NOW. LINE has missed L1 and its request can start at
 * START. WRITES: no other core may keep the line. FOR_LOAD: the time in a fill buffer
 * counts as pending. That event counts buffers that demand reads require. A buffer of
 * a store or prefetch counts from the moment a load hits it. */
static inline __attribute__((always_inline)) struct miss
miss_fill(struct machine *machine, struct sim_thread *thread, uint64_t line,
          uint64_t start, uint64_t now, bool writes, bool for_load)
{
        struct core *core = thread->core;
        struct places *buffers = &thread->fill_buffers;
        bool prefetched = false;
        bool in_l2 = cache_touch_first(&core->l2, line, &prefetched);
        uint64_t begin = places_find(buffers, start,
                                     in_l2 ? machine->l2_latency : machine->l3_latency);
        struct miss_answer answer = {.latency = (uint32_t)machine->l2_latency,
                                     .level = SIMPMU_LEVEL_L2};

        if (__builtin_expect(
                !in_l2 || machine->cores_used != 1 || core->last_request > begin, 0)) {
                machine_tick(machine, now);
                struct miss_request request = {line,  start,  begin,
                                               in_l2, writes, for_load};
                answer = miss_fill_otherwise(machine, thread, &request);
                begin = request.begin;
        } else {
                dram_tick(&machine->nodes[0].dram, now);
                answer.completion =
                    path_take(&core->from_l2, begin) + machine->l2_latency;
        }
        if (__builtin_expect(machine->lines_take_turns, 0))
                answer.completion = l1d_take_turn(&core->l1d, line, answer.completion,
                                                  miss_turn(machine, answer.level));
        begin = places_fit(buffers, start, begin, answer.latency, answer.completion);
        answer.completion = later(answer.completion, begin + answer.latency);
        miss_hold_buffer(thread, start, begin, answer.completion);
        if (for_load) {
                thread->counters.pending_slots += answer.completion - begin;
                activity_cover(&thread->activity, ACTIVITY_L1D, begin, answer.completion);
        }
        return (struct miss){begin, answer.completion, answer.level, answer.contested,
                             prefetched || answer.level > SIMPMU_LEVEL_L2};
}

/* LINE is not in L1D: brings it into way BIT of its set, and writes a dirty victim
 * back. The request starts at START, with the translation of the address; the other
 * arguments are miss_fill's. The caller marks the place. A dirty victim takes a turn of
 * the set too (measured on an EPYC of family 25). */
static inline __attribute__((always_inline)) struct miss
miss_to_l1(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
           const struct l1d *l1d, uint64_t line, const struct cache_place *place,
           uint32_t bit, uint64_t start, uint64_t now, bool to_write, bool waited_for)
{
        struct cache_victim victim = l1d_replace(l1d, hot, place, bit);
        struct core *core = thread->core;

        core->missed_sets[core->misses++ % MISSED_SETS] = place->index;
        if (victim.dirty)
                miss_write_back(machine, thread, cache_victim_line(&l1d->cache, &victim),
                                start);
        struct miss miss =
            miss_fill(machine, thread, line, start, now, to_write, waited_for);
        if (__builtin_expect(victim.dirty && machine->lines_take_turns, 0))
                miss.completion = l1d_take_turn(&core->l1d, line, miss.completion,
                                                miss_turn(machine, miss.level));
        *l1d_way_of(l1d, place, bit) = (struct l1d_way){miss.completion};
        if (__builtin_expect(watch_concerns(&machine->watch, line), 0))
                watch_fill(&machine->watch, core, line, place->set, bit,
                           miss.from_beyond);
        return miss;
}

#endif
