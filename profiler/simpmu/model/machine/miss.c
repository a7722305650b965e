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
        for (; core->lines_to_write > 0; core->lines_to_write--) {
                uint64_t begin = places_find(&core->queue, now, machine->write_time);
                places_hold(&core->queue, begin, begin + machine->write_time);
        }
}

void miss_hold_place(const struct machine *machine, struct core *core, uint64_t asked,
                     uint64_t done)
{
        places_hold(&core->queue, asked, done);
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

/* Inserts an absent line at its PLACE in NODE's L3, and writes back its victim. */
static void insert_l3(struct machine *machine, struct sim_thread *thread,
                      struct node *node, const struct cache_place *place, bool dirty,
                      uint64_t now)
{
        struct cache_victim victim = machine->tenant_rate == 0
                                         ? cache_insert_at(&node->l3, place, dirty)
                                         : cache_insert_newest(&node->l3, place, dirty);

        if (victim.evicted && machine->inclusion == INCLUSION_ALL)
                victim.dirty |=
                    leave_cores(machine, node, cache_victim_line(&node->l3, &victim));
        if (victim.dirty)
                write_to_memory(machine, thread, node,
                                cache_victim_line(&node->l3, &victim), now);
}

/* How many lines come to set INDEX in the SPELL in which one comes on the average: by
 * chance (Poisson), and the same in each run. */
static uint32_t tenant_lines(uint32_t index, uint32_t spell)
{
        /* Of 256 sets so many get no line, at most one line, ... */
        static const uint32_t sets[] = {94, 188, 235, 251, 255};
        uint32_t chance = spell * 0x9e3779b1u ^ index * 0x85ebca6bu, lines = 0;

        chance = (chance ^ chance >> 15) * 0x2c1b3c6du;
        for (uint32_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
                lines += chance >> 24 >= sets[i];
        return lines;
}

/* Until NOW other tenants have inserted lines into the set of PLACE since its last
 * access, which replace the least recently used ones. */
static __attribute__((noinline)) void
insert_tenants(struct machine *machine, struct sim_thread *thread, struct node *node,
               const struct cache_place *place, uint64_t now)
{
        const uint32_t enough = 2 * CACHE_MAXIMUM_WAYS; /* to replace all lines */
        const struct cache_place tenant = {place->set, place->index, CACHE_TENANT};
        uint32_t *spell = &place->set->tenant_spell;
        uint32_t last =
            (uint32_t)(((unsigned __int128)now * machine->tenant_rate) >> TENANT_SHIFT);

        if ((int32_t)(last - *spell) <= 0) /* another thread was here later */
                return;
        if (last - *spell > enough)
                *spell = last - enough;
        for (; *spell != last; ++*spell)
                for (uint32_t i = tenant_lines(place->index, *spell); i > 0; i--)
                        insert_l3(machine, thread, node, &tenant, false, now);
}

/* Where LINE belongs at NOW in NODE's L3, whose sets are more than the host's inner
 * caches hold. Most lines are followed by the next, whose set lies behind: that comes
 * meanwhile. */
static struct cache_place place_in_l3(struct machine *machine, struct sim_thread *thread,
                                      struct node *node, uint64_t line, uint64_t now)
{
        const uint32_t host_line_bytes = 64;
        struct cache_place place = node->l3.hashed ? cache_place_hashed(&node->l3, line)
                                                   : cache_place_of(&node->l3, line);
        const char *next = (const char *)place.set + node->l3.set_bytes;

        __builtin_prefetch(next + host_line_bytes - 1);
        __builtin_prefetch(next + node->l3.set_bytes - 1);
        if (__builtin_expect(machine->tenant_rate != 0, 0))
                insert_tenants(machine, thread, node, &place, now);
        return place;
}

/* The line in way BIT of PLACE's set of NODE's L3 is used; returns its way from now on.
 */
static uint32_t use_in_l3(const struct machine *machine, const struct node *node,
                          const struct cache_place *place, uint32_t bit)
{
        if (machine->tenant_rate == 0) {
                cache_use(&node->l3, place->set, bit);
                return bit;
        }
        bool dirty = cache_remove_at(place, bit) == CACHE_DIRTY;
        (void)cache_insert_newest(&node->l3, place, dirty);
        return 1;
}

/* LINE leaves a core of NODE, whose L3 takes it. */
static void keep_in_l3(struct machine *machine, struct sim_thread *thread,
                       struct node *node, uint64_t line, bool dirty, uint64_t now)
{
        struct cache_place place = place_in_l3(machine, thread, node, line, now);
        uint32_t bit = cache_find(&node->l3, &place);

        if (bit == 0)
                insert_l3(machine, thread, node, &place, dirty, now);
        else if (dirty)
                place.set->dirty |= bit;
        else
                (void)use_in_l3(machine, node, &place, bit);
}

static void insert_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                      bool dirty, uint64_t now)
{
        const struct cache *l2 = &thread->core->l2;
        const struct cache_place place = cache_place_of(l2, line);
        struct cache_victim victim = cache_insert_at(l2, &place, dirty);

        if (victim.dirty || (victim.evicted && machine->inclusion == INCLUSION_VICTIM))
                keep_in_l3(machine, thread, thread->core->node,
                           cache_victim_line(l2, &victim), victim.dirty, now);
}

void miss_write_back_to_l3(struct machine *machine, struct sim_thread *thread,
                           struct node *node, uint64_t line, uint64_t now)
{
        keep_in_l3(machine, thread, node, line, true, now);
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
        if (!machine->write_path)
                path_take(&thread->core->from_l2, now);
        write_back_to_l2(machine, thread, line, now);
        hold_written(machine, thread->core, now);
}

/* Cycles in which requests waited because all buffers were taken count once, for any
 * number of waiting requests. */
void miss_count_full(struct sim_thread *thread, uint64_t start, uint64_t begin)
{
        uint64_t from = later(start, thread->full_until);

        if (begin <= from)
                return;
        thread->counters.fb_full_slots += begin - from;
        thread->full_until = begin;
}

/* A line is used, in way BIT of PLACE's set of NODE's L3. The L3 keeps the line if its
 * page is SHARED by cores. Returns whether the core then has it modified. */
static bool take_from_l3(const struct machine *machine, const struct node *node,
                         bool shared, const struct cache_place *place, uint32_t bit)
{
        bit = use_in_l3(machine, node, place, bit);
        if (machine->inclusion != INCLUSION_VICTIM || shared)
                return false;
        return cache_remove_at(place, bit) == CACHE_DIRTY;
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

/* LINE, of a page that several cores share or not, is not in L2, and is from now on, and
 * in the L3 where that takes lines from memory. Returns where in the node it was found;
 * DRAM: nowhere. */
static enum simpmu_level bring_from_node(struct machine *machine,
                                         struct sim_thread *thread, uint64_t line,
                                         bool shared, uint64_t begin)
{
        struct node *node = thread->core->node;
        struct cache_place place = place_in_l3(machine, thread, node, line, begin);
        uint32_t bit = cache_find(&node->l3, &place);

        if (bit != 0) {
                bool dirty = take_from_l3(machine, node, shared, &place, bit);
                insert_l2(machine, thread, line, dirty, begin);
                return SIMPMU_LEVEL_L3;
        }
        insert_l2(machine, thread, line, false, begin);
        if (shared && coherence_near_copy(machine, thread, line))
                return SIMPMU_LEVEL_FORWARD;
        if (machine->inclusion != INCLUSION_VICTIM)
                insert_l3(machine, thread, node, &place, false, begin);
        return SIMPMU_LEVEL_DRAM;
}

/* LINE is not in L2: finds it, brings it into the levels that lack it and returns how
 * long that takes from BEGIN on. */
static uint64_t beyond_l2(struct machine *machine, struct sim_thread *thread,
                          uint64_t line, bool shared, uint64_t begin,
                          enum simpmu_level *level)
{
        *level = bring_from_node(machine, thread, line, shared, begin);
        if (*level == SIMPMU_LEVEL_L3)
                return machine->l3_latency;
        if (*level == SIMPMU_LEVEL_FORWARD)
                return machine->hitm_latency;
        return read_memory(machine, thread, line, begin, level);
}

/* A request that could begin at BEGIN has waited until ASKED for a place in the queue
 * beyond L2. */
static void count_queue_full(struct sim_thread *thread, uint64_t begin, uint64_t asked)
{
        struct core *core = thread->core;
        uint64_t from = later(begin, core->queue_full_until);

        if (asked <= from)
                return;
        thread->counters.sq_full_slots += asked - from;
        core->queue_full_until = asked;
}

/* REQUEST has a place beyond L2 from ASKED on and completes as in ANSWER, if its
 * places stay free until then. Otherwise it moves to a time at which a fill buffer and
 * a place beyond L2 are both free. Returns the time of the request beyond L2. */
static uint64_t fit_request(struct sim_thread *thread, struct miss_request *request,
                            uint64_t asked, struct miss_answer *answer)
{
        struct places *buffers = &thread->fill_buffers, *queue = &thread->core->queue;
        const uint64_t latency = answer->latency, earliest = answer->completion;

        for (;;) {
                asked = places_fit(queue, request->begin, asked, latency, earliest);
                answer->completion = later(earliest, asked + latency);
                uint64_t begin = places_fit(buffers, request->start, request->begin,
                                            latency, answer->completion);
                if (begin == request->begin)
                        return asked;
                request->begin = begin;
                asked = places_find(queue, begin, latency);
        }
}

/* A line that was not in L2 is under way to L1 from BEGIN on, as in MISS. Counts it as
 * a demand, unless it is a prefetch: a prefetch neither writes nor is for a load. */
static void count_demand(struct sim_thread *thread, const struct miss_request *request,
                         uint64_t begin, const struct miss_answer *miss)
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

/* The same as beyond_l2 for a LINE that another core, near or FAR, has modified. */
static uint64_t modified_elsewhere(struct machine *machine, struct sim_thread *thread,
                                   uint64_t line, bool far, uint64_t begin,
                                   enum simpmu_level *level)
{
        if (!cache_touch(&thread->core->l2, line))
                insert_l2(machine, thread, line, false, begin);
        *level = far ? SIMPMU_LEVEL_REMOTE_HITM : SIMPMU_LEVEL_HITM;
        return far ? machine->remote_cache_latency : machine->hitm_latency;
}

/* All in one piece: in a stream of lines that is where most of the time passes. */
__attribute__((flatten)) struct miss_answer
miss_fill_otherwise(struct machine *machine, struct sim_thread *thread,
                    struct miss_request *request)
{
        const bool writes = request->writes, in_l2 = request->in_l2;
        const uint64_t line = request->line;
        struct places *queue = &thread->core->queue;
        uint64_t latency = machine->l2_latency;
        enum simpmu_level level = SIMPMU_LEVEL_L2;
        bool contested = false;
        enum others others = OTHERS_NOTHING;
        bool shared = (writes || !in_l2) && coherence_is_shared(machine, thread, line);
        bool queued = !in_l2 && miss_queue_counts(machine, thread->core);
        uint64_t place = queued ? places_find(queue, request->begin, machine->l3_latency)
                                : request->begin;
        thread->counters.offcore_lines += !in_l2;
        uint64_t asked =
            path_take(in_l2 ? &thread->core->from_l2 : &thread->core->from_beyond, place);
        if (__builtin_expect(shared, 0))
                others =
                    coherence_request(machine, thread, line, writes, asked, &contested);
        if (others >= OTHERS_MODIFIED)
                latency = modified_elsewhere(
                    machine, thread, line, others == OTHERS_FAR_MODIFIED, asked, &level);
        else if (!in_l2)
                latency = beyond_l2(machine, thread, line, shared, asked, &level);
        else if (thread->core->last_request > asked)
                latency += prefetch_wait(thread->core, line, asked, &level);
        if (writes && others != OTHERS_NOTHING)
                latency = later(latency, miss_invalidation(machine, others));
        struct miss_answer answer = {asked + latency, (uint32_t)latency, (uint8_t)level,
                                     contested};
        if (queued) {
                place = fit_request(thread, request, place, &answer);
                count_queue_full(thread, request->begin, place);
                miss_hold_place(machine, thread->core, place, answer.completion);
        }
        if (!in_l2)
                count_demand(thread, request, request->begin, &answer);
        return answer;
}

void miss_for_kernel(struct machine *machine, struct sim_thread *thread,
                     const struct kernel_line *kernel, uint64_t now, bool *contested)
{
        const uint64_t line = kernel->line;
        enum others others = OTHERS_NOTHING;
        enum simpmu_level level;

        if (kernel->victim.dirty)
                write_back_to_l2(
                    machine, thread,
                    cache_victim_line(&thread->core->l1d.cache, &kernel->victim), now);
        bool in_l2 = cache_touch(&thread->core->l2, line);
        bool shared = coherence_is_shared(machine, thread, line);
        if (shared)
                others = coherence_request(machine, thread, line, true, now, contested);
        if (others >= OTHERS_MODIFIED)
                (void)modified_elsewhere(machine, thread, line, false, now, &level);
        else if (!in_l2 && !kernel->whole)
                (void)beyond_l2(machine, thread, line, shared, now, &level);
        else if (!in_l2 &&
                 bring_from_node(machine, thread, line, shared, now) == SIMPMU_LEVEL_DRAM)
                (void)machine_home(machine, line, thread->core->node);
        thread->core->lines_to_write = 0;
}

uint64_t miss_in_l2(struct machine *machine, struct sim_thread *thread, uint64_t line,
                    uint64_t begin, enum simpmu_level *level)
{
        enum others others = OTHERS_NOTHING;
        bool shared = coherence_is_shared(machine, thread, line);
        bool contested;

        if (shared)
                others =
                    coherence_request(machine, thread, line, false, begin, &contested);
        if (others == OTHERS_NOTHING)
                return beyond_l2(machine, thread, line, shared, begin, level);
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

/* LINE is written to memory from ASKED on: returns when memory has it. */
static uint64_t pass_memory(struct machine *machine, struct sim_thread *thread,
                            uint64_t line, uint64_t asked, uint8_t *level)
{
        struct node *node = thread->core->node;
        struct node *home = machine_home(machine, line, node);
        uint64_t done = dram_write(&home->dram, asked);

        *level = home == node ? SIMPMU_LEVEL_DRAM : SIMPMU_LEVEL_REMOTE_DRAM;
        if (home != node)
                done = later(done, dram_write(&home->link, asked));
        thread->counters.dram_write_lines++;
        return later(done, asked + machine->nontemporal_time);
}

struct miss miss_write_past(struct machine *machine, struct sim_hot *hot,
                            struct sim_thread *thread, uint64_t line, uint64_t start,
                            uint64_t now)
{
        const uint64_t latency = machine->nontemporal_time;
        struct core *core = thread->core;
        struct miss_request request = {.line = line, .start = start, .writes = true};
        struct miss_answer answer = {.latency = (uint32_t)latency};

        machine_tick(machine, now);
        miss_flush(machine, hot, thread, line, now);
        request.begin = places_find(&thread->fill_buffers, start, latency);
        const bool queued = miss_queue_counts(machine, core);
        uint64_t asked =
            queued ? places_find(&core->queue, request.begin, latency) : request.begin;
        answer.completion = pass_memory(machine, thread, line, asked, &answer.level);
        if (queued) {
                asked = fit_request(thread, &request, asked, &answer);
                count_queue_full(thread, request.begin, asked);
                miss_hold_place(machine, core, asked, answer.completion);
        }
        uint64_t begin = places_fit(&thread->fill_buffers, start, request.begin, latency,
                                    answer.completion);
        answer.completion = later(answer.completion, begin + latency);
        miss_hold_buffer(thread, start, begin, answer.completion);
        return (struct miss){.begin = begin,
                             .completion = answer.completion,
                             .level = (enum simpmu_level)answer.level};
}
