/* SPDX-License-Identifier: MIT */
/* Turns records of the simulated PMU into events. Knows both vocabularies, and
 * neither rings nor the database. */
#include "sim_deliver.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "db.h"
#include "heap/event.h"

/* ---- the machine ---- */

enum { ORIGIN_BYTES = sizeof(((struct sim_preset *)0)->name) + 32 };

/* Describes the source of the value of parameter KEY ("": none). */
static void write_origin(const struct sim_preset *preset, const char *key, char *origin)
{
        size_t i = 0;
        while (i < SIM_PARAMETER_COUNT && strcmp(sim_parameters[i].key, key) != 0)
                i++;
        bool known = i < SIM_PARAMETER_COUNT;
        if (known && preset->from_command_line[i])
                strcpy(origin, "command line");
        else if (known && preset->from_machine[i])
                strcpy(origin, "this machine's system");
        else
                snprintf(origin, ORIGIN_BYTES, "preset %s%s", preset->name,
                         known && preset->assumed[i] ? ", assumed" : "");
}

/* Maximum write bandwidth of stores. A written line is read first, and a channel turns
 * round for each batch of writes (model/memory/dram.h). A byte takes 1 ns at 1 GB/s. */
static double dram_write_bandwidth_gbs(const struct simpmu_params *p)
{
        enum { LINE_BYTES = 64 };
        double line_ns = LINE_BYTES / p->dram_bandwidth_gbs;
        double turn_ns = p->dram_turnaround_ns / p->dram_write_batch / p->dram_channels;
        return LINE_BYTES / (2 * line_ns + turn_ns);
}

int sim_deliver_machine(struct sink *sink, const struct sim_preset *preset,
                        struct diag *diag)
{
        const struct simpmu_params *p = &preset->params;
        /* In the model dram.latency_ns is all of a load that misses every cache. */
        double dram_latency_cycles = p->dram_latency_ns * p->clock_mhz / 1000;
        const struct {
                const char *name;
                double value;
                const char *unit;
                const char *key; /* of the parameter that provides it */
        } facts[] = {
            {"clock_mhz", p->clock_mhz, "MHz", "core.clock_mhz"},
            {"cores", p->cores, "cores", "core.count"},
            {"issue_width", p->issue_width, "instructions/cycle", "core.issue_width"},
            {"lfb_entries", p->lfb_entries, "lines", "core.lfb_entries"},
            {"l1d_bytes", p->l1d_bytes, "bytes", "l1d.size_bytes"},
            {"l1d_latency_cycles", p->l1d_latency_cycles, "cycles", "l1d.latency_cycles"},
            {"l1d_set_interval_l2_cycles", p->set_interval_l2_cycles, "cycles/line",
             "l1d.set_interval_l2_cycles"},
            {"l1d_set_interval_l3_cycles", p->set_interval_l3_cycles, "cycles/line",
             "l1d.set_interval_l3_cycles"},
            {"l2_bytes", p->l2_bytes, "bytes", "l2.size_bytes"},
            {"l2_latency_cycles", p->l2_latency_cycles, "cycles", "l2.latency_cycles"},
            {"l3_bytes", p->l3_bytes, "bytes", "l3.size_bytes"},
            {"l3_latency_cycles", p->l3_latency_cycles, "cycles", "l3.latency_cycles"},
            {"l3_bytes_per_cycle", p->l3_bytes_per_cycle, "bytes/cycle",
             "l3.bytes_per_cycle"},
            {"stlb_latency_cycles", p->stlb_latency_cycles, "cycles",
             "stlb.latency_cycles"},
            {"page_walk_cycles", p->page_walk_cycles, "cycles",
             "page_walk.latency_cycles"},
            {"page_walkers", p->walkers, "walks", "page_walk.walkers"},
            {"hitm_latency_cycles", p->hitm_latency_cycles, "cycles",
             "hitm.latency_cycles"},
            {"remote_cache_latency_cycles", p->remote_cache_ns * p->clock_mhz / 1000,
             "cycles", "numa.cache_latency_ns"},
            {"remote_dram_latency_cycles",
             dram_latency_cycles + p->link_latency_ns * p->clock_mhz / 1000, "cycles",
             "numa.link_latency_ns"},
            {"dram_latency_cycles", dram_latency_cycles, "cycles", "dram.latency_ns"},
            {"dram_bandwidth_gbs", p->dram_bandwidth_gbs, "GB/s", "dram.bandwidth_gbs"},
            {"dram_nodes", p->nodes, "nodes", "numa.nodes"},
            {"dram_write_bandwidth_gbs", dram_write_bandwidth_gbs(p), "GB/s",
             "dram.bandwidth_gbs"},
            {"line_bytes", 64, "bytes", ""},
        };
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < sizeof(facts) / sizeof(facts[0]); i++) {
                char origin[ORIGIN_BYTES];
                write_origin(preset, facts[i].key, origin);
                rc = sink_machine(sink, facts[i].name, facts[i].value, facts[i].unit,
                                  origin, diag);
        }
        return rc;
}

/* ---- records ---- */

static int deliver_thread(struct sink *sink, image_key image,
                          const struct simpmu_thread *thread, struct diag *diag)
{
        int64_t time_ns = (int64_t)thread->header.time_ns;
        int rc = sink_thread(sink, time_ns, image, thread->header.tid, NULL, diag);
        if (rc < 0 || thread->stack_high <= thread->stack_low)
                return rc;
        struct event_mapping stack = {
            .image = image,
            .start_addr = thread->stack_low,
            .length_bytes = thread->stack_high - thread->stack_low,
            .kind = MAPPING_STACK,
            .stack_tid = thread->header.tid,
            .protection = "rw-",
        };
        return sink_mapping(sink, time_ns, &stack, diag);
}

static int deliver_map(struct sink *sink, image_key image, const struct simpmu_map *map,
                       struct diag *diag)
{
        static const int kinds[] = {
            [SIMPMU_MAP_FILE] = MAPPING_FILE, [SIMPMU_MAP_ANON] = MAPPING_ANON,
            [SIMPMU_MAP_HEAP] = MAPPING_HEAP, [SIMPMU_MAP_STACK] = MAPPING_STACK,
            [SIMPMU_MAP_VDSO] = MAPPING_VDSO,
        };
        uint16_t flags = map->header.flags;
        struct event_mapping event = {
            .image = image,
            .start_addr = map->start,
            .length_bytes = map->length_bytes,
            .file_offset_bytes = map->file_offset_bytes,
            .kind = kinds[map->kind],
            .stack_tid = map->kind == SIMPMU_MAP_STACK ? map->header.tid : 0,
            .protection = {flags & SIMPMU_READ ? 'r' : '-',
                           flags & SIMPMU_WRITE ? 'w' : '-',
                           flags & SIMPMU_EXEC ? 'x' : '-', '\0'},
            .path = map->path[0] ? map->path : NULL,
            .build_id_bytes = map->build_id_bytes,
        };
        _Static_assert(sizeof(event.build_id) == sizeof(map->build_id),
                       "build-ids differ in length");
        memcpy(event.build_id, map->build_id, sizeof(event.build_id));
        return sink_mapping(sink, (int64_t)map->header.time_ns, &event, diag);
}

static int deliver_sample(struct sink *sink, image_key image,
                          const struct simpmu_sample *sample, struct diag *diag)
{
        /* As Intel's PMUs report them. */
        static const struct {
                const char *level;
                const char *snoop;
        } levels[SIMPMU_LEVEL_COUNT] = {
            [SIMPMU_LEVEL_L1] = {"L1", "none"},
            [SIMPMU_LEVEL_LFB] = {"LFB", "none"},
            [SIMPMU_LEVEL_L2] = {"L2", "none"},
            [SIMPMU_LEVEL_L3] = {"L3", "none"},
            [SIMPMU_LEVEL_FORWARD] = {"L3", "hit"},
            [SIMPMU_LEVEL_REMOTE_DRAM] = {"REMOTE_DRAM", "none"},
            [SIMPMU_LEVEL_REMOTE_CACHE] = {"REMOTE_CACHE", "hit"},
            [SIMPMU_LEVEL_REMOTE_HITM] = {"REMOTE_CACHE", "hitm"},
            [SIMPMU_LEVEL_HITM] = {"L3", "hitm"},
            [SIMPMU_LEVEL_DRAM] = {"DRAM", "none"},
        };
        uint16_t flags = sample->header.flags;
        struct data_source_row data_source = {
            .op = flags & SIMPMU_STORE ? "store" : "load",
            .level = levels[sample->level].level,
            .tlb = flags & SIMPMU_TLB_MISS   ? "miss"
                   : flags & SIMPMU_STLB_HIT ? "stlb"
                                             : "hit",
            .snoop = levels[sample->level].snoop,
            .locked = flags & SIMPMU_LOCKED,
            .has_raw = flags & (SIMPMU_UNFORWARDED_LOAD | SIMPMU_ALIASED_LOAD),
            .raw = (uint64_t)(flags & SIMPMU_UNFORWARDED_LOAD ? PERF_MEM_BLK_DATA
                                                              : PERF_MEM_BLK_ADDR)
                   << PERF_MEM_BLK_SHIFT,
        };
        static const struct data_source_row fault = {
            .op = "NA", .level = "NA", .tlb = "NA", .snoop = "NA"};
        struct event_sample event = {
            .image = image,
            .tid = sample->header.tid,
            .cpu = sample->cpu,
            .ip = sample->ip,
            .has_addr = true,
            .addr = sample->addr,
            .stall_ns = sample->stall_ns,
            .latency_cycles =
                sample->stall_ns || sample->faults ? -1 : (int64_t)sample->latency_cycles,
            .retire_latency_cycles =
                sample->stall_ns || sample->faults || !(flags & SIMPMU_RETIRED)
                    ? -1
                    : (int64_t)sample->retire_latency_cycles,
            .data_source = sample->faults ? &fault : &data_source,
            .few_sets = sample->few_sets,
            .watch = sample->watch,
            .faults = sample->faults,
            .kernel_cycles = (int64_t)sample->kernel_cycles,
            .fault_page_bytes = sample->page_bytes,
            .frames = sample->frames,
            .depth = sample->depth,
            .stack_frame = sample->stack_frame,
            .other_frames = sample->frames + sample->depth,
            .other_depth = sample->other_depth,
            .cfa_offset_bytes = (int64_t)(sample->addr - sample->frame_cfa),
            .thread_pointer = sample->thread_pointer,
        };
        return sink_sample(sink, (int64_t)sample->header.time_ns, &event, diag);
}

static int deliver_line(struct sink *sink, image_key image,
                        const struct simpmu_line *line, struct diag *diag)
{
        return line->header.flags & SIMPMU_LINE_USED
                   ? sink_line_use(sink, image, line->watch, line->value, diag)
                   : sink_line_reuse(sink, image, line->watch, (int64_t)line->value,
                                     diag);
}

static int deliver_counters(struct sink *sink, image_key image,
                            const struct simpmu_counters *counters, struct diag *diag)
{
        struct event_counter events[SIMPMU_COUNTER_COUNT] = {
#define COUNTER(symbol, text, what) {text, what, 0},
            SIMPMU_COUNTER_LIST(COUNTER)
#undef COUNTER
        };
        const size_t count = (counters->header.flags & SIMPMU_BRANCHES) != 0
                                 ? SIMPMU_COUNTER_COUNT
                                 : SIMPMU_MISPREDICTS;
        for (size_t i = 0; i < count; i++)
                events[i].value = counters->value[i];
        return sink_counters(sink, (int64_t)counters->start_ns,
                             (int64_t)counters->header.time_ns, image,
                             counters->header.tid, events, count, diag);
}

static int deliver_alloc(struct sink *sink, image_key image, struct simpmu_alloc *alloc,
                         struct diag *diag)
{
        static const char *const functions[HEAP_FUNCTION_COUNT] = {
#define FUNCTION(symbol, name) name,
            HEAP_FUNCTIONS(FUNCTION)
#undef FUNCTION
        };
        /* A leaf of the calling-context tree is a call instruction, not its return
         * address. The last byte of the call represents the call. */
        if (alloc->depth)
                alloc->frames[0]--;
        return sink_allocation(sink, (int64_t)alloc->header.time_ns, image,
                               alloc->header.tid, functions[alloc->function], alloc->addr,
                               alloc->size_bytes, alloc->frames, alloc->depth, diag);
}

int sim_deliver(struct sink *sink, image_key image, struct simpmu_record *record,
                struct diag *diag)
{
        int64_t time_ns = (int64_t)record->time_ns;
        switch (record->type) {
        case SIMPMU_THREAD:
                return deliver_thread(sink, image, (struct simpmu_thread *)record, diag);
        case SIMPMU_THREAD_NAME:
                return sink_thread_name(sink, image, record->tid,
                                        ((struct simpmu_thread_name *)record)->name,
                                        diag);
        case SIMPMU_THREAD_EXIT:
                return sink_thread_end(sink, time_ns, image, record->tid, diag);
        case SIMPMU_MAP:
                return deliver_map(sink, image, (struct simpmu_map *)record, diag);
        case SIMPMU_UNMAP: {
                const struct simpmu_unmap *unmap = (struct simpmu_unmap *)record;
                return sink_unmapping(sink, time_ns, image, unmap->start,
                                      unmap->length_bytes, diag);
        }
        case SIMPMU_SAMPLE:
                return deliver_sample(sink, image, (struct simpmu_sample *)record, diag);
        case SIMPMU_LINE:
                return deliver_line(sink, image, (struct simpmu_line *)record, diag);
        case SIMPMU_COUNTERS:
                return deliver_counters(sink, image, (struct simpmu_counters *)record,
                                        diag);
        case SIMPMU_ALLOC:
                return deliver_alloc(sink, image, (struct simpmu_alloc *)record, diag);
        case SIMPMU_FREE:
                return sink_free(sink, time_ns, image,
                                 ((struct simpmu_free *)record)->addr, diag);
        case SIMPMU_RESIZE:
                return sink_resize(sink, image, record->tid,
                                   ((struct simpmu_free *)record)->addr, diag);
        case SIMPMU_RESIZED:
                return sink_resized(sink, time_ns, image, record->tid,
                                    ((struct simpmu_free *)record)->addr, diag);
        case SIMPMU_EXECUTED:
                return sink_executed(sink, image, ((struct simpmu_executed *)record)->ip,
                                     diag);
        case SIMPMU_UNHANDLED: {
                const struct simpmu_unhandled *unhandled =
                    (struct simpmu_unhandled *)record;
                return sink_unhandled(sink, image, unhandled->ip, unhandled->bytes,
                                      unhandled->length, diag);
        }
        default:
                return 0;
        }
}
