/* SPDX-License-Identifier: MIT */
/* What happens beyond L1: the way of a missing line through L2, L3 and memory, the
 * fill buffer that waits for it, and what other cores must give up. */
#ifndef SIMPMU_MODEL_MISS_H
#define SIMPMU_MODEL_MISS_H

#include "machine.h"
#include "prefetch.h"

struct miss {
        uint64_t completion; /* when the line is in L1 */
        enum simpmu_level level;
};

/* The dirty LINE leaves L1 at NOW. */
void miss_write_back(struct machine *machine, struct sim_thread *thread, uint64_t line,
                     uint64_t now);

/* Other cores that use LINE's page lose their dirty copy of it, and when the thread's
 * core WRITES any copy. Only for machines of which several cores are in use. */
void miss_shared(struct machine *machine, struct sim_thread *thread, uint64_t line,
                 bool writes, uint64_t now);

/* The program flushes LINE: every cache loses it, and memory gets it where it is dirty.
 */
void miss_flush(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint64_t now);

/* LINE is not in L2: finds it, brings it into the levels that lack it and returns how
 * long that takes from BEGIN on. */
uint64_t miss_beyond_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                        uint64_t begin, enum simpmu_level *level);

/* The cold half of miss_buffer: more requests than there are buffers, of which some may
 * be free by NOW. Returns when the request can begin. */
uint64_t miss_buffer_wait(struct sim_thread *thread, uint64_t start, uint64_t now);

/* Takes a fill buffer, the last of fill_done, for a request that can start at START;
 * returns when it can begin. The buffer that was taken last will do when it is free by
 * then, as it is when one load waits for the other; which others are free is looked at
 * only when so many requests have been made. */
static inline uint64_t miss_buffer(const struct machine *machine,
                                   struct sim_thread *thread, uint64_t start,
                                   uint64_t now)
{
        uint64_t count =
            thread->fill_count + (thread->fill_done[thread->fill_count - 1] > start);

        if (count > machine->fill_buffers)
                return miss_buffer_wait(thread, start, now);
        thread->fill_count = count;
        return start;
}

/* At NOW the thread's core writes LINE, which it has clean: other cores lose theirs. */
static inline void miss_take_ownership(struct machine *machine, struct sim_thread *thread,
                                       uint64_t line, uint64_t now)
{
        if (machine->cores_used > 1)
                miss_shared(machine, thread, line, true, now);
}

/* A fill buffer is free at NOW. */
bool miss_buffer_free(const struct machine *machine, struct sim_thread *thread,
                      uint64_t now);

/* The thread's clock stands at NOW; LINE has missed L1 and its request can start at
 * START. WRITES: no other core may keep it. The time in a fill buffer counts as pending
 * when it is FOR_LOAD: the event counts buffers that demand reads require, a store's or a
 * prefetch's from the moment that a load hits it. */
static inline struct miss miss_fill(struct machine *machine, struct sim_thread *thread,
                                    uint64_t line, uint64_t start, uint64_t now,
                                    bool writes, bool for_load)
{
        uint64_t begin = miss_buffer(machine, thread, start, now);
        uint64_t latency = machine->l2_latency;
        enum simpmu_level level = SIMPMU_LEVEL_L2;

        dram_tick(&machine->dram, now);
        if (machine->cores_used > 1)
                miss_shared(machine, thread, line, writes, begin);
        if (__builtin_expect(!cache_touch(&thread->core->l2, line), 0))
                latency = miss_beyond_l2(machine, thread, line, begin, &level);
        else if (__builtin_expect(thread->core->last_request > begin, 0))
                latency += prefetch_wait(thread->core, line, begin, &level);
        thread->fill_done[thread->fill_count - 1] = begin + latency;
        if (for_load)
                thread->counters.pending_slots += latency;
        return (struct miss){begin + latency, level};
}

#endif
