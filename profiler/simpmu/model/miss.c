/* SPDX-License-Identifier: MIT */
/* The path beyond L1: see miss.h. */
#include "miss.h"

static void write_to_memory(struct machine *machine, struct sim_thread *thread,
                            struct node *node, uint64_t line, uint64_t now)
{
        struct node *home = machine_home(machine, line, node);

        dram_write(&home->dram, now);
        if (home != node)
                dram_write(&home->link, now);
        thread->counters.dram_write_lines++;
        if (miss_queue_counts(machine, thread->core))
                thread->core->lines_to_write++;
}

/* From NOW the lines that CORE has pushed out take the places that are free first. */
static void hold_written(const struct machine *machine, struct core *core, uint64_t now)
{
        struct line_queue *queue = &core->queue;

        for (; core->lines_to_write > 0; core->lines_to_write--)
                line_queue_hold(queue, line_queue_wait(queue, now) + machine->write_time);
}

void miss_hold_place(const struct machine *machine, struct core *core, uint64_t asked,
                     uint64_t done)
{
        line_queue_hold(&core->queue, done);
        hold_written(machine, core, asked);
}

/* LINE leaves the cores of NODE; returns whether it was modified there. */
static bool leave_cores(struct machine *machine, const struct node *node, uint64_t line)
{
        bool dirty = false;

        for (uint32_t i = 0; i < machine->cores_used; i++) {
                struct core *core = machine->cores[i];
                if (core->node != node)
                        continue;
                dirty |= cache_remove(&core->l1d.cache, line) == CACHE_DIRTY;
                dirty |= cache_remove(&core->l2, line) == CACHE_DIRTY;
                if (core->hot != NULL)
                        filter_drop(core->hot, line);
        }
        return dirty;
}

/* Puts a line that is not there at its PLACE in NODE's L3, with what that pushes out. */
static void insert_l3(struct machine *machine, struct sim_thread *thread,
                      struct node *node, const struct cache_place *place, bool dirty,
                      uint64_t now)
{
        struct cache_victim victim = cache_insert_at(&node->l3, place, dirty);

        if (victim.evicted && machine->inclusion == INCLUSION_ALL)
                victim.dirty |= leave_cores(machine, node, victim.line);
        if (victim.dirty)
                write_to_memory(machine, thread, node, victim.line, now);
}

void miss_write_back_to_l3(struct machine *machine, struct sim_thread *thread,
                           struct node *node, uint64_t line, uint64_t now)
{
        struct cache_place place = cache_place_of(&node->l3, line);

        if (!cache_mark_dirty_at(&node->l3, &place))
                insert_l3(machine, thread, node, &place, true, now);
}

/* The clean LINE leaves a core of NODE, whose L3 takes it. */
static void keep_in_l3(struct machine *machine, struct sim_thread *thread,
                       struct node *node, uint64_t line, uint64_t now)
{
        struct cache_place place = cache_place_of(&node->l3, line);

        if (!cache_touch_at(&node->l3, &place))
                insert_l3(machine, thread, node, &place, false, now);
}

static void insert_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                      bool dirty, uint64_t now)
{
        struct node *node = thread->core->node;
        struct cache_victim victim = cache_insert(&thread->core->l2, line, dirty);

        if (victim.dirty)
                miss_write_back_to_l3(machine, thread, node, victim.line, now);
        else if (victim.evicted && machine->inclusion == INCLUSION_VICTIM)
                keep_in_l3(machine, thread, node, victim.line, now);
}

static void write_back_to_l2(struct machine *machine, struct sim_thread *thread,
                             uint64_t line, uint64_t now)
{
        if (!cache_mark_dirty(&thread->core->l2, line))
                insert_l2(machine, thread, line, true, now);
}

void miss_write_back(struct machine *machine, struct sim_thread *thread, uint64_t line,
                     uint64_t now)
{
        write_back_to_l2(machine, thread, line, now);
        hold_written(machine, thread->core, now);
}

/* Forgets fill buffers that are free by NOW; returns whether there are any. */
static bool forget_free_buffers(struct sim_thread *thread, uint64_t now)
{
        const uint64_t count = thread->fill_count;
        uint64_t kept = 0;

#pragma GCC unroll 4
        for (uint64_t i = 0; i < count; i++) {
                uint64_t done = thread->fill_done[i];
                thread->fill_done[kept] = done;
                kept += done > now;
        }
        thread->fill_count = kept;
        return kept < count;
}

bool miss_few_in_progress(const struct machine *machine, struct sim_thread *thread,
                          uint64_t now)
{
        if (4 * thread->fill_count >= 3 * machine->fill_buffers)
                (void)forget_free_buffers(thread, now);
        if (thread->fill_count == 0)
                thread->fill_count = 1; /* the last one taken, free by now */
        return 4 * thread->fill_count < 3 * machine->fill_buffers;
}

static uint64_t *first_to_be_free(struct sim_thread *thread)
{
        uint64_t *first = thread->fill_done;

        for (uint64_t i = 1; i < thread->fill_count; i++)
                first = thread->fill_done[i] < *first ? &thread->fill_done[i] : first;
        return first;
}

/* FIRST is free before START: the buffer that is so, too, and was in use last. */
static uint64_t *last_in_use(struct sim_thread *thread, uint64_t *first, uint64_t start)
{
        uint64_t *last = first;

        for (uint64_t i = 0; i < thread->fill_count; i++) {
                uint64_t done = thread->fill_done[i];
                last = done <= start && done > *last ? &thread->fill_done[i] : last;
        }
        return last;
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

        if (!forget_free_buffers(thread, now)) {
                uint64_t *first = first_to_be_free(thread);
                uint64_t *taken =
                    *first <= start ? last_in_use(thread, first, start) : first;
                begin = later(start, *taken);
                *taken = thread->fill_done[--thread->fill_count];
        }
        thread->fill_count++;
        count_full(thread, start, begin);
        return begin;
}

/* The line's page is not known to be used by several cores. */
static bool is_private(struct machine *machine, uint64_t line)
{
        return machine->cores_used == 1 ||
               pages_at(&machine->pages, line >> PAGE_LINE_SHIFT)->shared == 0;
}

/* LINE is in the node's L3; returns whether the core has it modified then. */
static bool take_from_l3(struct machine *machine, struct node *node, uint64_t line)
{
        if (machine->inclusion != INCLUSION_VICTIM || !is_private(machine, line))
                return false;
        return cache_remove(&node->l3, line) == CACHE_DIRTY;
}

/* The L3 of another node answers a read of LINE: it has it modified, or is at HOME. */
static bool in_remote_l3(struct machine *machine, const struct node *node,
                         const struct node *home, uint64_t line)
{
        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                const struct node *other = &machine->nodes[i];
                if (other == node)
                        continue;
                enum cache_state state = cache_look(&other->l3, line);
                if (state == CACHE_DIRTY || (state == CACHE_CLEAN && other == home))
                        return true;
        }
        return false;
}

static uint64_t read_memory(struct machine *machine, struct sim_thread *thread,
                            uint64_t line, uint64_t begin, enum simpmu_level *level)
{
        struct node *node = thread->core->node;
        struct node *home = machine_home(machine, line, node);

        if (machine->nodes_used > 1 && in_remote_l3(machine, node, home, line)) {
                *level = SIMPMU_LEVEL_REMOTE_CACHE;
                return machine->remote_cache_latency;
        }
        thread->counters.dram_read_lines++;
        uint64_t latency = dram_read(&home->dram, begin);
        *level = SIMPMU_LEVEL_DRAM;
        if (home != node) {
                *level = SIMPMU_LEVEL_REMOTE_DRAM;
                latency += dram_read(&home->link, begin);
        }
        return latency;
}

/* LINE is not in L2, and is from now on, and in the L3 where that takes lines from
 * memory. Returns where in the node it was found; DRAM: nowhere. */
static enum simpmu_level bring_from_node(struct machine *machine,
                                         struct sim_thread *thread, uint64_t line,
                                         uint64_t begin)
{
        struct node *node = thread->core->node;
        struct cache_place place = cache_place_of(&node->l3, line);

        if (cache_touch_at(&node->l3, &place)) {
                bool dirty = take_from_l3(machine, node, line);
                insert_l2(machine, thread, line, dirty, begin);
                return SIMPMU_LEVEL_L3;
        }
        insert_l2(machine, thread, line, false, begin);
        if (machine->cores_used > 1 && coherence_near_copy(machine, thread, line))
                return SIMPMU_LEVEL_FORWARD;
        if (machine->inclusion != INCLUSION_VICTIM)
                insert_l3(machine, thread, node, &place, false, begin);
        return SIMPMU_LEVEL_DRAM;
}

uint64_t miss_beyond_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                        uint64_t begin, enum simpmu_level *level)
{
        *level = bring_from_node(machine, thread, line, begin);
        if (*level == SIMPMU_LEVEL_L3)
                return machine->l3_latency;
        if (*level == SIMPMU_LEVEL_FORWARD)
                return machine->hitm_latency;
        return read_memory(machine, thread, line, begin, level);
}

/* A request that could begin at BEGIN waits for a place in the queue beyond L2; returns
 * when it has it. */
static uint64_t queue_wait(struct sim_thread *thread, uint64_t begin)
{
        struct core *core = thread->core;
        uint64_t asked = line_queue_wait(&core->queue, begin);
        uint64_t from = later(begin, core->queue_full_until);

        if (asked <= from)
                return asked;
        thread->counters.sq_full_slots += asked - from;
        core->queue_full_until = asked;
        return asked;
}

/* A line that was not in L2 is under way to L1 from BEGIN as MISS says: counts what asks
 * for it, unless that is a prefetch, which neither writes nor is for a load. */
static void count_demand(struct sim_thread *thread, const struct miss_request *request,
                         uint64_t begin, const struct miss *miss)
{
        if (request->for_load) {
                thread->counters.demand_read_lines++;
                thread->counters.demand_dram_lines += miss->level == SIMPMU_LEVEL_DRAM;
                activity_cover(&thread->activity, ACTIVITY_L2, begin, miss->completion);
                if (miss->level >= SIMPMU_LEVEL_DRAM)
                        activity_cover(&thread->activity, ACTIVITY_L3, begin,
                                       miss->completion);
        } else if (request->writes) {
                thread->counters.demand_rfo_lines++;
        }
}

/* The same as miss_beyond_l2 for a LINE that another core, near or FAR, has modified. */
static uint64_t modified_elsewhere(struct machine *machine, struct sim_thread *thread,
                                   uint64_t line, bool far, uint64_t begin,
                                   enum simpmu_level *level)
{
        if (!cache_touch(&thread->core->l2, line))
                insert_l2(machine, thread, line, false, begin);
        *level = far ? SIMPMU_LEVEL_REMOTE_HITM : SIMPMU_LEVEL_HITM;
        return far ? machine->remote_cache_latency : machine->hitm_latency;
}

struct miss miss_fill_otherwise(struct machine *machine, struct sim_thread *thread,
                                const struct miss_request *request)
{
        const bool writes = request->writes, in_l2 = request->in_l2;
        uint64_t line = request->line, begin = request->begin;
        uint64_t latency = machine->l2_latency;
        struct miss miss = {.level = SIMPMU_LEVEL_L2};
        enum others others = OTHERS_NOTHING;
        bool queued = !in_l2 && miss_queue_counts(machine, thread->core);
        uint64_t asked = queued ? queue_wait(thread, begin) : begin;

        asked =
            path_take(in_l2 ? &thread->core->from_l2 : &thread->core->from_beyond, asked);
        if (machine->cores_used > 1 && (writes || !in_l2))
                others = coherence_request(machine, thread, line, writes, asked,
                                           &miss.contested);
        if (others >= OTHERS_MODIFIED)
                latency =
                    modified_elsewhere(machine, thread, line,
                                       others == OTHERS_FAR_MODIFIED, asked, &miss.level);
        else if (!in_l2)
                latency = miss_beyond_l2(machine, thread, line, asked, &miss.level);
        else if (thread->core->last_request > asked)
                latency += prefetch_wait(thread->core, line, asked, &miss.level);
        if (writes && others != OTHERS_NOTHING)
                latency = later(latency, miss_invalidation(machine, others));
        miss.completion = asked + latency;
        if (queued)
                miss_hold_place(machine, thread->core, asked, miss.completion);
        if (!in_l2)
                count_demand(thread, request, begin, &miss);
        return miss;
}

void miss_for_kernel(struct machine *machine, struct sim_thread *thread,
                     const struct kernel_line *kernel, uint64_t now, bool *contested)
{
        const uint64_t line = kernel->line;
        enum others others = OTHERS_NOTHING;
        enum simpmu_level level;

        if (kernel->victim.dirty)
                write_back_to_l2(machine, thread, kernel->victim.line, now);
        bool in_l2 = cache_touch(&thread->core->l2, line);
        if (machine->cores_used > 1)
                others = coherence_request(machine, thread, line, true, now, contested);
        if (others >= OTHERS_MODIFIED)
                (void)modified_elsewhere(machine, thread, line, false, now, &level);
        else if (!in_l2 && !kernel->whole)
                (void)miss_beyond_l2(machine, thread, line, now, &level);
        else if (!in_l2 &&
                 bring_from_node(machine, thread, line, now) == SIMPMU_LEVEL_DRAM)
                (void)machine_home(machine, line, thread->core->node);
        thread->core->lines_to_write = 0;
}

uint64_t miss_in_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                    uint64_t begin, enum simpmu_level *level)
{
        enum others others = OTHERS_NOTHING;
        bool contested;

        if (machine->cores_used > 1)
                others =
                    coherence_request(machine, thread, line, false, begin, &contested);
        if (others == OTHERS_NOTHING)
                return miss_beyond_l2(machine, thread, line, begin, level);
        return modified_elsewhere(machine, thread, line, others == OTHERS_FAR_MODIFIED,
                                  begin, level);
}

void miss_flush(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint64_t now)
{
        struct node *home = machine_home(machine, line, thread->core->node);
        bool dirty = false;

        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                struct node *node = &machine->nodes[i];
                dirty |= cache_remove(&node->l3, line) == CACHE_DIRTY;
                dirty |= leave_cores(machine, node, line);
        }
        filter_drop(hot, line);
        if (!dirty)
                return;
        write_to_memory(machine, thread, home, line, now);
        hold_written(machine, thread->core, now);
}
