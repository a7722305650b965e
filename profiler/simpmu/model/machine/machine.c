/* SPDX-License-Identifier: MIT */
/* Building the machine from its parameters, and reading its counters. */
#include "machine.h"

#include "coherence.h"
#include "fetch.h"

#define NS_PER_MHZ 1000.0 /* 1 MHz x 1000 ns = 1 cycle */

static uint64_t in_slots(const struct machine *machine, double cycles)
{
        return (uint64_t)(cycles * (double)machine->slots_per_cycle + 0.5);
}

/* The interval of lines on a path. */
static double line_slots(const struct machine *machine, double bytes_per_cycle)
{
        return LINE_BYTES / bytes_per_cycle * (double)machine->slots_per_cycle;
}

static void init_dram(const struct machine *machine, struct dram *dram)
{
        const struct simpmu_params *params = &machine->params;
        double slots_per_ns = machine_slots_per_ns(machine);
        const struct dram_timing timing = {
            .idle_latency_slots = params->dram_latency_ns * slots_per_ns,
            .lines_per_slot = params->dram_bandwidth_gbs / LINE_BYTES / slots_per_ns,
            .channels = params->dram_channels,
            .turnaround_slots = params->dram_turnaround_ns * slots_per_ns,
            .write_batch = params->dram_write_batch,
        };

        dram_init(dram, &timing, machine->slots_per_cycle, machine->core_count,
                  machine->allocate);
}

/* A link is like a memory of one channel that need not turn round. */
static void init_link(const struct machine *machine, struct dram *link)
{
        const struct simpmu_params *params = &machine->params;
        double slots_per_ns = machine_slots_per_ns(machine);
        const struct dram_timing timing = {
            .idle_latency_slots = params->link_latency_ns * slots_per_ns,
            .lines_per_slot = params->link_bandwidth_gbs / LINE_BYTES / slots_per_ns,
            .channels = 1,
            .write_batch = 1,
        };

        dram_init(link, &timing, machine->slots_per_cycle, machine->core_count,
                  machine->allocate);
}

static void node_init(const struct machine *machine, struct node *node, uint32_t number)
{
        const struct simpmu_params *params = &machine->params;

        node->number = number;
        init_dram(machine, &node->dram);
        init_link(machine, &node->link);
        cache_init(&node->l3, (uint64_t)params->l3_bytes / LINE_BYTES,
                   (uint32_t)params->l3_ways, true, machine->allocate);
}

static void init_memory(struct machine *machine)
{
        node_init(machine, &machine->nodes[0], 0);
        machine->nodes_used = 1;
        pages_init(&machine->pages, machine->allocate);
        contests_init(&machine->contests, machine->slots_per_cycle, machine->allocate);
        watch_init(&machine->watch, NULL, machine->allocate);
}

static uint64_t tenant_rate(const struct machine *machine)
{
        double lines_per_slot =
            machine->params.l3_tenants_gbs / LINE_BYTES / machine_slots_per_ns(machine);

        return (uint64_t)(lines_per_slot / machine->nodes[0].l3.set_count *
                          (double)(UINT64_C(1) << TENANT_SHIFT));
}

static void init_forwarding(struct machine *machine)
{
        const struct simpmu_params *params = &machine->params;

        machine->forward_latency = in_slots(machine, params->forward_cycles);
        machine->forward_vector_latency =
            in_slots(machine, params->forward_vector_cycles);
        machine->forward_renamed_latency =
            in_slots(machine, params->forward_renamed_cycles);
        machine->renaming = (enum renaming)params->forward_renames;
        machine->forward_longest = later(machine->forward_latency,
                                         later(machine->forward_vector_latency,
                                               machine->renaming == RENAMES_NOTHING
                                                   ? 0
                                                   : machine->forward_renamed_latency));
}

static void init_kernel(struct machine *machine)
{
        const struct simpmu_params *params = &machine->params;
        const double slots_per_ns = machine_slots_per_ns(machine);

        machine->fault_cost = (uint64_t)(params->kernel_fault_ns * slots_per_ns);
        machine->call_cost = (uint64_t)(params->kernel_call_ns * slots_per_ns);
        if (params->kernel_copy_gbs > 0)
                machine->kernel_line_slots =
                    LINE_BYTES / params->kernel_copy_gbs * slots_per_ns;
}

void machine_init(struct machine *machine, const struct simpmu_params *params,
                  uint32_t ldlat_cycles, sim_allocate allocate,
                  void (*on_sample)(const struct sim_sample *sample))
{
        *machine = (struct machine){
            .params = *params,
            .slots_per_cycle = (uint64_t)params->issue_width,
            .fill_buffers = (uint32_t)params->lfb_entries,
            .node_count = (uint32_t)params->nodes,
            .core_count = (uint32_t)(params->cores * params->nodes),
            .inclusion = (enum inclusion)params->l3_inclusion,
            .allocate = allocate,
            .on_sample = on_sample,
        };
        machine->l1d_latency = in_slots(machine, params->l1d_latency_cycles);
        init_forwarding(machine);
        machine->l2_latency = in_slots(machine, params->l2_latency_cycles);
        machine->l3_latency = in_slots(machine, params->l3_latency_cycles);
        machine->write_path = params->l2_write_path > 0;
        machine->set_interval_l2 = in_slots(machine, params->set_interval_l2_cycles);
        machine->set_interval_l3 = in_slots(machine, params->set_interval_l3_cycles);
        machine->lines_take_turns =
            machine->set_interval_l2 != 0 || machine->set_interval_l3 != 0;
        machine->hitm_latency = in_slots(machine, params->hitm_latency_cycles);
        machine->hitm_hold = in_slots(machine, params->hitm_latency_cycles *
                                                   params->hitm_hold_percent / 100);
        machine->remote_cache_latency =
            in_slots(machine, params->remote_cache_ns * params->clock_mhz / NS_PER_MHZ);
        machine->write_time =
            in_slots(machine, params->dram_write_ns * params->clock_mhz / NS_PER_MHZ);
        machine->nontemporal_time =
            in_slots(machine, params->nontemporal_ns * params->clock_mhz / NS_PER_MHZ);
        machine->stlb_latency = in_slots(machine, params->stlb_latency_cycles);
        machine->walk_latency = in_slots(machine, params->page_walk_cycles);
        machine->huge_walk_latency = in_slots(machine, params->huge_walk_cycles);
        machine->mispredict_cost = in_slots(machine, params->mispredict_cycles);
        machine->unforwarded_cost = in_slots(machine, params->unforwarded_cycles);
        machine->alias_cost = in_slots(machine, params->alias_cycles);
        machine->lock_cost = in_slots(machine, params->lock_cycles);
        machine->sample_latency = in_slots(machine, ldlat_cycles);
        init_kernel(machine);
        machine->cores = allocate(machine->core_count * sizeof(*machine->cores));
        init_memory(machine);
        machine->tenant_rate = tenant_rate(machine);
}

/* The node of core NUMBER; nodes are made when first used. */
static struct node *node_of(struct machine *machine, uint32_t number)
{
        uint32_t node = machine->params.spread > 0
                            ? number % machine->node_count
                            : number / (uint32_t)machine->params.cores;

        for (; machine->nodes_used <= node; machine->nodes_used++)
                node_init(machine, &machine->nodes[machine->nodes_used],
                          machine->nodes_used);
        machine_set_others(machine, machine->nodes[0].dram.others_at);
        return &machine->nodes[node];
}

static struct core *core_new(struct machine *machine, uint32_t number)
{
        const struct simpmu_params *params = &machine->params;
        struct core *core = machine->allocate(sizeof(*core));

        core->number = number;
        /* Each request may push out a line. */
        places_init(
            &core->queue, (uint32_t)params->l2_queue_entries,
            2 * (uint32_t)(params->load_buffer_entries + params->store_buffer_entries));
        core->queue_fills = machine->fill_buffers > core->queue.count;
        path_init(&core->from_l2, line_slots(machine, params->l2_bytes_per_cycle));
        path_init(&core->from_stlb,
                  params->stlb_interval_cycles * (double)machine->slots_per_cycle);
        path_init(&core->from_beyond, line_slots(machine, params->l3_bytes_per_cycle));
        core->node = node_of(machine, number);
        core->node->cores |= contest_core(number);
        for (uint32_t i = 0; i < STREAMS; i++)
                core->streams[i].page = UINT64_MAX;
        l1d_init(&core->l1d, (uint64_t)params->l1d_bytes / LINE_BYTES,
                 (uint32_t)params->l1d_ways, params->l1d_hashed > 0, machine->allocate);
        cache_init(&core->l2, (uint64_t)params->l2_bytes / LINE_BYTES,
                   (uint32_t)params->l2_ways, params->l2_hashed > 0, machine->allocate);
        tlb_init(&core->tlb, params, machine->allocate);
        fetch_init_core(machine, core);
        return core;
}

/* The core that thread number K runs on: K modulo their count. They fill one node after
 * the other or, with numa.spread, go round the nodes. Cores are made when first used. */
static struct core *machine_core(struct machine *machine, uint32_t k)
{
        uint32_t number = k % machine->core_count;

        while (machine->cores_used <= number) {
                machine->cores[machine->cores_used] =
                    core_new(machine, machine->cores_used);
                if (++machine->cores_used == 2)
                        coherence_begin(machine);
        }
        return machine->cores[number];
}

void machine_set_others(struct machine *machine, uint64_t clock)
{
        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                dram_set_others(&machine->nodes[i].dram, clock);
                dram_set_others(&machine->nodes[i].link, clock);
        }
}

void machine_end_turn(struct machine *machine, const struct core *core, uint64_t slots)
{
        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                dram_end_turn(&machine->nodes[i].dram, core->number, slots);
                dram_end_turn(&machine->nodes[i].link, core->number, slots);
        }
}

void machine_expect(struct machine *machine, const struct core *core)
{
        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                dram_expect(&machine->nodes[i].dram, core->number);
                dram_expect(&machine->nodes[i].link, core->number);
        }
}

void machine_tick_all(struct machine *machine, uint64_t clock)
{
        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                dram_tick(&machine->nodes[i].dram, clock);
                dram_tick(&machine->nodes[i].link, clock);
        }
}

void machine_thread_init(struct machine *machine, struct sim_thread *thread, uint32_t k,
                         uint64_t start, uint64_t period_loads, uint64_t seed)
{
        thread_init(thread, machine_core(machine, k), start,
                    (uint32_t)machine->params.rob_entries,
                    (uint32_t)machine->params.load_buffer_entries,
                    (uint32_t)machine->params.store_buffer_entries);
        scheduler_init(thread, (const uint32_t[SCHEDULER_KINDS]){
                                   (uint32_t)machine->params.scheduler_entries,
                                   (uint32_t)machine->params.vector_scheduler_entries,
                                   (uint32_t)machine->params.address_scheduler_entries,
                               });
        places_init(&thread->fill_buffers, machine->fill_buffers,
                    (uint32_t)(machine->params.load_buffer_entries +
                               machine->params.store_buffer_entries));
        thread->load_slots = machine->params.issue_width / machine->params.load_ports;
        thread->repeat_slots = machine->params.alias_repeats * thread->load_slots;
        thread->store_slots = machine->params.issue_width / machine->params.store_ports;
        thread->ports.clock = start;
        thread->fetch_slack = fetch_slack(machine);
        thread->core->runs = NULL; /* the same memory may have been a thread before */
        sampler_init(&thread->sampler, period_loads, seed + k);
        sampler_init(&thread->store_sampler, period_loads, ~(seed + k));
        thread->stores.on_done = machine->on_store_done;
}

/* Times on the clock of the thread that was here before mean nothing to the next. */
static void forget_requests(struct core *core)
{
        core->last_request = 0;
        places_clear(&core->queue);
        core->lines_to_write = 0;
        core->queue_full_until = 0;
        core->streamer_waits = 0;
        for (uint32_t i = 0; i < L2_REQUESTS; i++)
                core->requests[i].arrival = 0;
}

void machine_forget_translations(struct machine *machine, struct sim_hot *hot,
                                 uint64_t first, uint64_t count)
{
        for (uint32_t i = 0; i < machine->cores_used; i++)
                tlb_forget(&machine->cores[i]->tlb, first, count);
        filter_clear(hot);
}

void machine_thread_runs(struct sim_hot *hot, const struct sim_thread *thread)
{
        hot->late = 0;
        hot->late_until = 0;
        stall_to_hot(hot, thread);
        hot->fetched = thread->stall;
        filter_clear(hot);
        for (uint32_t i = 0; i < RECENT_STORES; i++)
                hot->recent_note[i] = 0;
        for (uint32_t i = 0; i < STORED_PLACES; i++)
                hot->stored_ready[i] = 0;
        for (uint32_t i = 0; i < CODE_LINES; i++)
                hot->code_line[i] = NO_CODE_LINE;
        if (thread->core->runs == thread)
                return;
        thread->core->runs = thread;
        thread->core->hot = hot;
        l1d_settle(&thread->core->l1d);
        tlb_settle(&thread->core->tlb);
        forget_requests(thread->core);
}

void machine_forked(struct machine *machine, struct sim_hot *hot)
{
        for (uint32_t i = 0; i < machine->cores_used; i++) {
                cache_clean_all(&machine->cores[i]->l1d.cache);
                cache_clean_all(&machine->cores[i]->l2);
        }
        for (uint32_t i = 0; i < machine->nodes_used; i++)
                cache_clean_all(&machine->nodes[i].l3);
        /* Stores that pass the filter do not make their line dirty. */
        filter_clear(hot);
}

void machine_shares_pages(struct machine *machine, struct sim_hot *hot)
{
        pages_fork(&machine->pages);
        machine->fork_is_alone = false;
        /* A store to a dirty line, or one that passes the filter, looks at no page. */
        for (uint32_t i = 0; i < machine->cores_used; i++)
                cache_clean_all(&machine->cores[i]->l1d.cache);
        filter_clear(hot);
}

void machine_read_counters(const struct machine *machine, struct sim_thread *thread,
                           uint64_t instructions, uint64_t loads, uint64_t busy,
                           uint64_t value[SIMPMU_COUNTER_COUNT])
{
        const struct sim_counters *counters = &thread->counters;
        const struct activity *activity = &thread->activity;
        uint64_t cycle = machine->slots_per_cycle;
        uint64_t now = instructions + thread->stall;

        activity_fold(&thread->activity, now, now - thread->idle, instructions + busy);
        value[SIMPMU_NO_EXECUTE] = activity->no_execute / cycle;
        value[SIMPMU_STALLS_L1D] = activity->stalls[ACTIVITY_L1D] / cycle;
        value[SIMPMU_STALLS_L2] = activity->stalls[ACTIVITY_L2] / cycle;
        value[SIMPMU_STALLS_L3] = activity->stalls[ACTIVITY_L3] / cycle;
        value[SIMPMU_STALLS_LDM] = activity->stalls[ACTIVITY_LDM] / cycle;
        value[SIMPMU_SB_FULL] = counters->sb_full_slots / cycle;
        value[SIMPMU_MISPREDICTS] = counters->mispredicts;
        value[SIMPMU_SQ_FULL] = counters->sq_full_slots / cycle;
        value[SIMPMU_DEMAND_READ] = counters->demand_read_lines;
        value[SIMPMU_DEMAND_RFO] = counters->demand_rfo_lines;
        value[SIMPMU_OFFCORE_ALL] = counters->offcore_lines;

        value[SIMPMU_CYCLES] = (instructions + thread->stall - thread->idle) / cycle;
        value[SIMPMU_INSTRUCTIONS] = instructions;
        value[SIMPMU_LOADS] = loads;
        value[SIMPMU_PENDING] = counters->pending_slots / cycle;
        value[SIMPMU_L1_MISS] = 0;
        for (int level = SIMPMU_LEVEL_L2; level < SIMPMU_LEVEL_COUNT; level++)
                value[SIMPMU_L1_MISS] += counters->loads_at[level];
        value[SIMPMU_FB_HIT] = counters->loads_at[SIMPMU_LEVEL_LFB];
        value[SIMPMU_FB_FULL] = counters->fb_full_slots / cycle;
        /* As on real CPUs, lines that a prefetcher requested first are left out (H20). */
        value[SIMPMU_OFFCORE] = counters->demand_dram_lines;
        value[SIMPMU_STLB_HIT_LOADS] = counters->translated_loads[TLB_STLB_HIT];
        value[SIMPMU_WALKED_LOADS] = counters->translated_loads[TLB_WALK] +
                                     counters->translated_loads[TLB_HUGE_WALK];
        value[SIMPMU_DRAM_READ] = counters->dram_read_lines * LINE_BYTES;
        value[SIMPMU_DRAM_WRITE] = counters->dram_write_lines * LINE_BYTES;
        value[SIMPMU_SPLIT_LOADS] = counters->split_loads;
        value[SIMPMU_SPLIT_STORES] = counters->split_stores;
        value[SIMPMU_UNFORWARDED] = counters->unforwarded_loads;
        value[SIMPMU_ALIASED] = counters->aliased_loads;
        value[SIMPMU_PAGE_FAULTS] = counters->page_faults;
        value[SIMPMU_KERNEL_FAULT] = counters->fault_slots / cycle;
        value[SIMPMU_KERNEL_CALL] = counters->call_slots / cycle;
}
