/* SPDX-License-Identifier: MIT */
/* See fetch.h. */
#include "fetch.h"

#include "miss.h"

void fetch_begin(struct machine *machine, bool caches)
{
        const struct simpmu_params *params = &machine->params;
        double width = (double)machine->slots_per_cycle;

        machine->fetch = (struct fetch){
            .has_caches = caches,
            .run_slots = (uint64_t)(width / params->fetch_runs + 0.5),
            .indirect_slots = (uint64_t)(params->fetch_indirect_cycles * width + 0.5),
            .decode_slots = width / params->decode_width,
            .line_slots =
                (uint64_t)(LINE_BYTES / params->l2_bytes_per_cycle * width + 0.5),
            .ahead_limit = (uint64_t)(params->fetch_ahead_cycles * width + 0.5),
        };
        uint64_t call_slots = (uint64_t)(params->fetch_call_cycles * width + 0.5);
        machine->fetch.return_slots =
            later(call_slots, 2 * machine->fetch.run_slots) - machine->fetch.run_slots;
}

static void init_cache(const struct machine *machine, struct cache *cache, double bytes,
                       double ways)
{
        cache_init(cache, (uint64_t)bytes / LINE_BYTES, (uint32_t)ways, false,
                   machine->allocate);
}

void fetch_init_core(const struct machine *machine, struct core *core)
{
        const struct simpmu_params *params = &machine->params;

        if (!machine->fetch.has_caches)
                return;
        init_cache(machine, &core->op_cache, params->op_cache_bytes,
                   params->op_cache_ways);
        init_cache(machine, &core->l1i, params->l1i_bytes, params->l1i_ways);
}

/* How long the core has known the next instructions: since the last restart of the
 * front end, limited by its look-ahead. */
static uint64_t known_for(const struct machine *machine, const struct sim_hot *hot,
                          const struct sim_thread *thread)
{
        int64_t since = (int64_t)(hot->fetched - thread->fetch_restart);

        if (since <= 0)
                return 0;
        return (uint64_t)since < machine->fetch.ahead_limit ? (uint64_t)since
                                                            : machine->fetch.ahead_limit;
}

/* LINE is not in L1I; returns the front end's wait for it. Lines follow each other on
 * the path from L2. */
static uint64_t bring(struct machine *machine, const struct sim_hot *hot,
                      struct sim_thread *thread, uint64_t line)
{
        const uint64_t now = hot->instructions + hot->fetched;
        uint64_t ahead = known_for(machine, hot, thread);
        uint64_t latency = machine->l2_latency;
        enum simpmu_level level;

        (void)cache_insert(&thread->core->l1i, line, false);
        if (!cache_touch(&thread->core->l2, line))
                latency = miss_in_l2(machine, thread, line, now, &level);
        return later(latency > ahead ? latency - ahead : 0, machine->fetch.line_slots);
}

static uint64_t *place_of(struct sim_hot *hot, uint64_t line)
{
        return &hot->code_line[line & (CODE_LINES - 1)];
}

/* Generated code passes LINE's next use on to fetch_line. */
static void forget(struct sim_hot *hot, uint64_t line)
{
        if (*place_of(hot, line) == line)
                *place_of(hot, line) = NO_CODE_LINE;
}

/* The line of PLACE has just been used. Generated code only knows lines that are
 * marked recent, where one more use changes nothing. After the set's marks were
 * cleared, all lines but the last must be marked again when they are used. */
static void forget_old(struct sim_hot *hot, const struct cache *cache,
                       const struct cache_place *place)
{
        const struct cache_set *set = place->set;
        bool several_recent = (set->recent & (set->recent - 1)) != 0;

        for (uint32_t way = 0; !several_recent && way < cache->tag_count; way++)
                if (set->tag[way] != CACHE_EMPTY)
                        forget(hot, cache_line_of(cache, place->index, set->tag[way]));
}

/* The extra slots, beyond issue, in which CORE decodes INSTRUCTIONS. A fraction of a
 * slot is carried to the next call. */
static uint64_t decode(const struct machine *machine, struct core *core,
                       uint32_t instructions)
{
        double beyond = machine->fetch.decode_slots - 1;
        uint64_t slots;

        if (!(beyond > 0))
                return 0;
        core->decode_remainder += beyond * instructions;
        slots = (uint64_t)core->decode_remainder;
        core->decode_remainder -= (double)slots;
        return slots;
}

void fetch_line(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint32_t instructions)
{
        struct core *core = thread->core;
        struct cache_place place = cache_place_of(&core->op_cache, line);

        if (!cache_touch_at(&core->op_cache, &place)) {
                struct cache_victim victim =
                    cache_insert_at(&core->op_cache, &place, false);
                if (victim.evicted)
                        forget(hot, cache_victim_line(&core->op_cache, &victim));
                if (!cache_touch(&core->l1i, line))
                        hot->fetched += bring(machine, hot, thread, line);
                hot->fetched += decode(machine, core, instructions);
        }
        forget_old(hot, &core->op_cache, &place);
        *place_of(hot, line) = line;
}
