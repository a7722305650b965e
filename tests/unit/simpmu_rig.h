/* SPDX-License-Identifier: MIT */
/* A simulated machine for tests, fed with accesses as generated code makes them. */
#ifndef MEMLAG_TESTS_SIMPMU_RIG_H
#define MEMLAG_TESTS_SIMPMU_RIG_H

#define TEST_TEARDOWN free_blocks
#include "model/machine/access.h"
#include "unit_test.h"

#define KIB              1024ull
#define MIB              (1024 * KIB)
#define CLOCK_MHZ        2000.0
#define DRAM_NS          100.0
#define DRAM_CYCLES      200u /* DRAM_NS at CLOCK_MHZ */
#define DRAM_GBS         20.0
#define HUGE_WALK_CYCLES 20u
#define WALK_CYCLES      30u
#define HITM_CYCLES      100u
#define LINK_NS          50.0
#define LINK_GBS         8.0
#define REMOTE_CACHE_NS  120.0
#define THREADS_MAX      16u
#define GATE_CYCLES      10000u
#define POINTER          0u /* the register that a chase loads */
#define WORD_BYTES       8u
#define NO_SAMPLES       UINT32_MAX
#define SETTLE           8000u /* instructions after which everything has arrived */

/* A machine with threads on cores of their own; one runs at a time. */
struct rig {
        struct machine machine;
        struct sim_hot hot;
        struct sim_thread *threads[THREADS_MAX];
        uint64_t instructions[THREADS_MAX];
        uint64_t stores[THREADS_MAX];
        uint64_t ready[THREADS_MAX][VALUES];
        uint32_t count;
        uint32_t running;
};

static uint64_t samples_taken;
static struct sim_sample last_sample;
static __attribute__((unused)) struct sim_sample last_fault;

/* The model never frees memory: the rig frees its allocations after each test. */
static struct block {
        struct block *next;
} * blocks;

static inline void *allocate(size_t bytes)
{
        const size_t line = 64;
        size_t rounded = (bytes + line - 1) / line * line;
        char *memory = aligned_alloc(line, line + rounded);
        assert_non_null(memory);
        memset(memory, 0, line + rounded);
        struct block *block = (struct block *)memory;
        block->next = blocks;
        blocks = block;
        return memory + line;
}

static inline int free_blocks(void **state)
{
        while (blocks) {
                struct block *next = blocks->next;
                free(blocks);
                blocks = next;
        }
        return 0;
}

static inline void take_sample(const struct sim_sample *sample)
{
        if (sample->kernel_slots > 0) {
                last_fault = *sample;
                return;
        }
        samples_taken++;
        last_sample = *sample;
}

static inline struct simpmu_params default_params(void)
{
        return (struct simpmu_params){
            .cores = THREADS_MAX,
            .clock_mhz = CLOCK_MHZ,
            .issue_width = 4,
            .rob_entries = 224,
            .scheduler_entries = 224,
            .lfb_entries = 12,
            .store_buffer_entries = 56,
            .load_buffer_entries = 224,
            .load_ports = 4,
            .store_ports = 4,
            .fetch_runs = 1,
            .fetch_call_cycles = 4,
            .fetch_indirect_cycles = 2,
            .fetch_run_instructions = 8,
            .fetch_queue_entries = 64,
            .fetch_ahead_cycles = 10,
            .op_cache_bytes = 8 * KIB,
            .op_cache_ways = 8,
            .decode_width = 2,
            .l1i_bytes = 32 * KIB,
            .l1i_ways = 8,
            .l1d_bytes = 32 * KIB,
            .l1d_ways = 8,
            .l1d_latency_cycles = 5,
            .l2_bytes = 256 * KIB,
            .l2_ways = 8,
            .l2_latency_cycles = 14,
            .l2_bytes_per_cycle = 1024, /* lines do not wait for each other */
            .l2_queue_entries = 16,
            .stream_lines = 20,
            .next_page = 1,
            .l3_bytes = 2 * MIB,
            .l3_ways = 11,
            .l3_latency_cycles = 60,
            .l3_bytes_per_cycle = 1024,
            .hitm_latency_cycles = HITM_CYCLES,
            .dtlb_entries = 64,
            .dtlb_ways = 4,
            .dtlb_huge_entries = 32,
            .dtlb_huge_ways = 4,
            .stlb_entries = 1536,
            .stlb_ways = 12,
            .stlb_latency_cycles = 9,
            .page_walk_cycles = WALK_CYCLES,
            .walkers = 2,
            .huge_walk_cycles = HUGE_WALK_CYCLES,
            .dram_latency_ns = DRAM_NS,
            .dram_bandwidth_gbs = DRAM_GBS,
            .dram_channels = 1,
            .dram_write_batch = 1, /* a turn-round takes no time */
            .nodes = 1,
            .link_latency_ns = LINK_NS,
            .link_bandwidth_gbs = LINK_GBS,
            .remote_cache_ns = REMOTE_CACHE_NS,
        };
}

/* Misses of the TLB take no time. */
static inline struct simpmu_params params_without_walks(void)
{
        struct simpmu_params params = default_params();
        params.page_walk_cycles = 0;
        params.stlb_latency_cycles = 0;
        return params;
}

static inline struct rig *rig_new(const struct simpmu_params *params, uint32_t threads,
                                  uint32_t ldlat_cycles, uint64_t period)
{
        struct rig *rig = allocate(sizeof(*rig));
        machine_init(&rig->machine, params, ldlat_cycles, allocate, take_sample);
        rig->count = threads;
        for (uint32_t i = 0; i < threads; i++) {
                rig->threads[i] = allocate(sizeof(*rig->threads[i]));
                machine_thread_init(&rig->machine, rig->threads[i], i, 0, period, 1);
        }
        filter_clear(&rig->hot);
        rig->hot.instruction_limit = UINT64_MAX;
        samples_taken = 0;
        return rig;
}

static inline struct rig *default_rig(uint32_t threads, uint32_t ldlat_cycles,
                                      uint64_t period)
{
        struct simpmu_params params = default_params();
        return rig_new(&params, threads, ldlat_cycles, period);
}

static inline struct rig *rig_without_walks(uint32_t threads, uint32_t ldlat_cycles,
                                            uint64_t period)
{
        struct simpmu_params params = params_without_walks();
        return rig_new(&params, threads, ldlat_cycles, period);
}

static inline void run_thread(struct rig *rig, uint32_t thread)
{
        if (rig->running == thread)
                return;
        rig->instructions[rig->running] = rig->hot.instructions;
        rig->stores[rig->running] = rig->hot.stores;
        memcpy(rig->ready[rig->running], rig->hot.ready, sizeof(rig->hot.ready));
        rig->running = thread;
        rig->hot.instructions = rig->instructions[thread];
        rig->hot.stores = rig->stores[thread];
        memcpy(rig->hot.ready, rig->ready[thread], sizeof(rig->hot.ready));
        machine_thread_runs(&rig->hot, rig->threads[thread]);
}

/* The test that generated code makes before it calls the model. */
static inline bool passes_filter(const struct rig *rig, enum access_kind kind,
                                 uint64_t address)
{
        const uint64_t line = address >> LINE_SHIFT;
        uint64_t known = kind == ACCESS_LOAD
                             ? rig->hot.loads_pass[line & (FILTER_ENTRIES - 1)]
                             : rig->hot.stores_pass[line & (FILTER_ENTRIES - 1)];
        return address - known <= LINE_BYTES - WORD_BYTES;
}

static inline void call_model(struct rig *rig, const struct access_site *site,
                              enum access_kind kind, uint64_t address)
{
        struct sim_thread *thread = rig->threads[rig->running];
        const uint64_t now = rig->hot.instructions + thread->stall;
        const uint64_t window = GATE_CYCLES * rig->machine.slots_per_cycle;
        if (rig->count > 1) /* no other thread is further behind */
                machine_set_others(&rig->machine, now > window ? now - window : 0);
        access_memory(&rig->machine, &rig->hot, thread, site, kind,
                      access_mode_of(&rig->machine), address);
}

/* Likewise for a load whose value may be a store's, and not ready yet. */
static inline void load_stored(struct rig *rig, const struct access_site *site,
                               uint64_t address)
{
        load_after_store(&rig->machine, &rig->hot, rig->threads[rig->running], site,
                         address);
}

static inline void run_access(struct rig *rig, const struct access_site *site,
                              uint64_t address)
{
        enum access_kind kind = (enum access_kind)site->kind;
        if (!passes_filter(rig, kind, address))
                call_model(rig, site, kind, address);
}

/* A block of INSTRUCTIONS whose first, at IP, is an access that depends on nothing. */
static inline void touch_at(struct rig *rig, uint64_t ip, enum access_kind kind,
                            uint64_t address, uint16_t instructions)
{
        struct access_site site = {.ip = ip,
                                   .size_bytes = WORD_BYTES,
                                   .position = -(int32_t)instructions,
                                   .stores_before = kind == ACCESS_LOAD ? 0 : -1,
                                   .kind = (uint8_t)kind,
                                   .slot = UNUSED_VALUE};
        rig->hot.instructions += instructions;
        rig->hot.stores += kind != ACCESS_LOAD;
        run_access(rig, &site, address);
}

static inline void touch(struct rig *rig, enum access_kind kind, uint64_t address,
                         uint16_t instructions)
{
        touch_at(rig, 1, kind, address, instructions);
}

static inline uint64_t latency_cycles(const struct rig *rig)
{
        return last_sample.latency_slots / rig->machine.slots_per_cycle;
}

static inline void on_core(struct rig *rig, uint32_t core, enum access_kind kind,
                           uint64_t address)
{
        run_thread(rig, core);
        touch(rig, kind, address, SETTLE);
}

/* The level that serves the access of on_core. */
#define assert_served(expected, ...)                                                     \
        do {                                                                             \
                on_core(__VA_ARGS__);                                                    \
                assert_int_equal(last_sample.level, expected);                           \
        } while (0)

/* pointer = *pointer, in a block of one instruction, as generated code does it. */
static inline void chase_step(struct rig *rig, uint64_t address)
{
        const struct access_site site = {.address = waits_for(1u << POINTER, NULL, 0),
                                         .size_bytes = WORD_BYTES,
                                         .position = -1,
                                         .kind = ACCESS_LOAD,
                                         .slot = FIRST_SLOT};
        rig->hot.instructions++;
        rig->hot.ready[FIRST_SLOT] = 0;
        run_access(rig, &site, address);
        rig->hot.ready[POINTER] = rig->hot.ready[FIRST_SLOT];
}

/* A store of FORM to ADDRESS whose value comes at READY, as generated code notes it. */
static inline void stored_note(struct sim_hot *hot, uint64_t address, uint32_t form,
                               uint64_t ready)
{
        uint32_t i = (uint32_t)(address >> STORED_SHIFT) & (STORED_PLACES - 1);
        hot->stored_ready[i] = ready;
        hot->stored_where[i] = address | (uint64_t)form << STORED_FORM_SHIFT;
}

/* pointer = *pointer through a variable in memory, as unoptimised code does it: a block
 * that loads the variable, loads through it and stores the value back. */
static inline void chase_through_memory_step(struct rig *rig, uint64_t variable,
                                             uint64_t address)
{
        const uint8_t first = FIRST_SLOT, second = FIRST_SLOT + 1;
        const struct access_site load_variable = {
            .size_bytes = WORD_BYTES, .kind = ACCESS_LOAD, .slot = first};
        const struct access_site load_next = {.address =
                                                  waits_for(1ull << first, NULL, 0),
                                              .size_bytes = WORD_BYTES,
                                              .position = 1,
                                              .kind = ACCESS_LOAD,
                                              .slot = second};
        const struct access_site store_variable = {
            .size_bytes = WORD_BYTES, .position = 2, .kind = ACCESS_STORE};
        rig->hot.ready[first] = 0;
        call_model(rig, &load_variable, ACCESS_LOAD, variable);
        load_stored(rig, &load_variable, variable);
        rig->hot.ready[second] = 0;
        call_model(rig, &load_next, ACCESS_LOAD, address);
        call_model(rig, &store_variable, ACCESS_STORE, variable);
        stored_note(&rig->hot, variable, FORM_UNKNOWN, rig->hot.ready[second]);
        rig->hot.instructions += 3;
}

static inline void counters(const struct rig *rig, uint32_t thread,
                            uint64_t value[SIMPMU_COUNTER_COUNT])
{
        uint64_t instructions =
            thread == rig->running ? rig->hot.instructions : rig->instructions[thread];
        machine_read_counters(&rig->machine, rig->threads[thread], instructions, 0,
                              rig->hot.busy, value);
}

/* Likewise, valid until the end of the test. */
static inline const uint64_t *read_counters(const struct rig *rig, uint32_t thread)
{
        uint64_t *value = allocate(SIMPMU_COUNTER_COUNT * sizeof(*value));
        counters(rig, thread, value);
        return value;
}

static inline uint64_t now_cycles(const struct rig *rig, uint32_t thread)
{
        uint64_t value[SIMPMU_COUNTER_COUNT];
        counters(rig, thread, value);
        return value[SIMPMU_CYCLES];
}

static inline double lmrl(const uint64_t value[SIMPMU_COUNTER_COUNT])
{
        return (double)value[SIMPMU_PENDING] /
               (double)(value[SIMPMU_L1_MISS] + value[SIMPMU_FB_HIT]);
}

static inline double per_cycle(const uint64_t *value, enum simpmu_counter counter)
{
        return (double)value[counter] / (double)value[SIMPMU_CYCLES];
}

static inline void assert_near(double actual, double expected, double tolerance)
{
        if (actual < expected * (1 - tolerance) || actual > expected * (1 + tolerance))
                fail_msg("%g is not within %g%% of %g", actual, tolerance * 100,
                         expected);
}

/* A line of BYTES bytes of memory in an order without locality (a full cycle of a
 * linear congruential generator with a power-of-two modulus). */
static inline uint64_t scattered(uint64_t step, uint64_t bytes)
{
        uint64_t lines = bytes / LINE_BYTES;
        return step * 2654435761u % lines * LINE_BYTES;
}

/* LOADS lines of 64 MiB in an order without locality, one every INSTRUCTIONS. */
static inline void load_scattered(struct rig *rig, uint64_t loads, uint16_t instructions)
{
        for (uint64_t i = 0; i < loads; i++)
                touch(rig, ACCESS_LOAD, scattered(i, 64 * MIB), instructions);
}

static inline void read_again(struct rig *rig, uint64_t bytes)
{
        for (uint64_t at = 0; at < bytes; at += LINE_BYTES)
                touch(rig, ACCESS_LOAD, at, 4);
}

#endif
