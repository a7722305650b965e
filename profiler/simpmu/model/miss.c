/* SPDX-License-Identifier: MIT */
/* The path beyond L1: see miss.h. A prefetcher would watch miss_fill's lines and
 * request more of them here; there is none yet. */
#include "miss.h"

static void write_to_memory(struct machine *machine, struct sim_thread *thread,
                            uint64_t now)
{
        dram_write(&machine->dram, now);
        thread->counters.dram_write_lines++;
}

/* Puts a line that is in neither place into the L3, with what that pushes out. */
static void insert_l3(struct machine *machine, struct sim_thread *thread, uint64_t line,
                      bool dirty, uint64_t now)
{
        struct cache_victim victim = cache_insert(&machine->l3, line, dirty);

        if (victim.dirty)
                write_to_memory(machine, thread, now);
}

void miss_write_back_to_l3(struct machine *machine, struct sim_thread *thread,
                           uint64_t line, uint64_t now)
{
        if (!cache_mark_dirty(&machine->l3, line))
                insert_l3(machine, thread, line, true, now);
}

static void insert_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                      bool dirty, uint64_t now)
{
        struct cache_victim victim = cache_insert(&thread->core->l2, line, dirty);

        if (victim.dirty)
                miss_write_back_to_l3(machine, thread, victim.line, now);
}

void miss_write_back(struct machine *machine, struct sim_thread *thread, uint64_t line,
                     uint64_t now)
{
        if (!cache_mark_dirty(&thread->core->l2, line))
                insert_l2(machine, thread, line, true, now);
}

/* Forgets fill buffers that are free by NOW. */
static void forget_free_buffers(struct sim_thread *thread, uint64_t now)
{
        uint64_t kept = 0;

        for (uint64_t i = 0; i < thread->fill_count; i++) {
                uint64_t done = thread->fill_done[i];
                thread->fill_done[kept] = done;
                kept += done > now;
        }
        thread->fill_count = kept;
}

bool miss_buffer_free(const struct machine *machine, struct sim_thread *thread,
                      uint64_t now)
{
        if (thread->fill_count == machine->fill_buffers)
                forget_free_buffers(thread, now);
        if (thread->fill_count == 0)
                thread->fill_count = 1; /* the last one taken, free by now */
        return thread->fill_count < machine->fill_buffers ||
               thread->fill_done[thread->fill_count - 1] <= now;
}

/* All are in use at the thread's clock: the one to take is that which is freed last
 * before START, else the one that is freed first. */
static uint64_t *buffer_to_wait_for(struct sim_thread *thread, uint64_t start)
{
        const uint64_t free_in_time = 1ull << 63;
        const uint64_t latest_time = 1ull << 62;
        uint64_t best_score = 0;
        uint64_t *best = NULL;

        for (uint64_t i = 0; i < thread->fill_count; i++) {
                uint64_t done = thread->fill_done[i];
                uint64_t score = done <= start ? done | free_in_time : latest_time - done;
                bool better = score > best_score;
                best_score = better ? score : best_score;
                best = better ? &thread->fill_done[i] : best;
        }
        return best;
}

/* Cycles in which a request waited because all buffers were taken count once,
 * however many requests waited. */
static void count_full(struct sim_thread *thread, uint64_t start, uint64_t begin)
{
        uint64_t from = start > thread->full_until ? start : thread->full_until;

        if (begin <= from)
                return;
        thread->counters.fb_full_slots += begin - from;
        thread->full_until = begin;
}

uint64_t miss_buffer_wait(struct sim_thread *thread, uint64_t start, uint64_t now)
{
        uint64_t begin = start;
        uint64_t full = thread->fill_count;

        forget_free_buffers(thread, now);
        if (thread->fill_count == full) {
                uint64_t *taken = buffer_to_wait_for(thread, start);
                begin = later(start, *taken);
                *taken = thread->fill_done[--thread->fill_count];
        }
        thread->fill_count++;
        count_full(thread, start, begin);
        return begin;
}

uint64_t miss_beyond_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                        uint64_t begin, enum simpmu_level *level)
{
        insert_l2(machine, thread, line, false, begin);
        if (cache_touch(&machine->l3, line)) {
                *level = SIMPMU_LEVEL_L3;
                return machine->l3_latency;
        }
        insert_l3(machine, thread, line, false, begin);
        *level = SIMPMU_LEVEL_DRAM;
        thread->counters.dram_read_lines++;
        return dram_read(&machine->dram, begin);
}

void miss_count_demand(struct sim_thread *thread, uint64_t begin, uint64_t end,
                       bool writes, bool for_load)
{
        if (for_load) {
                thread->counters.demand_read_lines++;
                activity_cover(&thread->activity, ACTIVITY_L2, begin, end);
        } else if (writes) {
                thread->counters.demand_rfo_lines++;
        }
}

uint64_t miss_modified_elsewhere(struct machine *machine, struct sim_thread *thread,
                                 uint64_t line, uint64_t begin, enum simpmu_level *level)
{
        if (!cache_touch(&thread->core->l2, line))
                insert_l2(machine, thread, line, false, begin);
        *level = SIMPMU_LEVEL_HITM;
        return machine->hitm_latency;
}

uint64_t miss_in_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                    uint64_t begin, enum simpmu_level *level)
{
        bool contested;

        if (machine->cores_used > 1 &&
            coherence_request(machine, thread, line, false, begin, &contested) ==
                OTHERS_MODIFIED)
                return miss_modified_elsewhere(machine, thread, line, begin, level);
        return miss_beyond_l2(machine, thread, line, begin, level);
}

void miss_flush(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint64_t now)
{
        bool dirty = cache_remove(&machine->l3, line) == CACHE_DIRTY;

        for (uint32_t i = 0; i < machine->cores_used; i++) {
                struct core *core = machine->cores[i];
                dirty |= cache_remove(&core->l1d.cache, line) == CACHE_DIRTY;
                dirty |= cache_remove(&core->l2, line) == CACHE_DIRTY;
        }
        filter_drop(hot, line);
        if (dirty)
                write_to_memory(machine, thread, now);
}
