/* SPDX-License-Identifier: MIT */
/* The interface between memlag and the simulated PMU: the model's parameters, and the
 * ring of records that every simulated process writes. It has only layout, no code,
 * because the Valgrind tool (no C library) includes it as well as memlag.
 *
 * One sparse memory file serves a whole run. Its first page is struct simpmu_control,
 * and struct simpmu_plan follows.
 * Image number k of the run (each fork and each exec counts) takes slice k by adding
 * one to slices_claimed, and puts its ring there. memlag is the only consumer, and
 * punches a hole when a process is done.
 *
 * Slice numbers identify images. Process ids do not, because processes may lie in
 * different PID namespaces. For the same reason, locks on the file show which
 * processes live (fcntl's F_SETLK, which the kernel drops with the process). memlag
 * holds a lock on the first byte of the control page. Each image holds a lock on the
 * first byte of its slice. */
#ifndef MEMLAG_SIMPMU_PROTOCOL_H
#define MEMLAG_SIMPMU_PROTOCOL_H

#include <stdint.h>

#define SIMPMU_MAGIC   0x756d706d69736d6cULL /* "lmsimpmu", little endian */
#define SIMPMU_VERSION 29u

#define SIMPMU_CONTROL_BYTES      4096u
#define SIMPMU_PLAN_BYTES         (1u << 20) /* behind it: struct simpmu_plan */
#define SIMPMU_SLICE_HEADER_BYTES 4096u
#define SIMPMU_RING_BYTES         (4u << 20) /* a power of two */
/* Of the records of a target that runs as it is, which has a claim (owner.h) for each
 * that the ring has room for. */
#define SIMPMU_RECORD_MIN_BYTES 32u
#define SIMPMU_CLAIM_BYTES      (SIMPMU_RING_BYTES / SIMPMU_RECORD_MIN_BYTES * 8)
/* In their place a simulated image has a struct simpmu_counters of each thread. */
#define SIMPMU_LATEST_COUNTERS                                                           \
        (SIMPMU_CLAIM_BYTES / (uint32_t)sizeof(struct simpmu_counters))
#define SIMPMU_SLICE_BYTES                                                               \
        (SIMPMU_SLICE_HEADER_BYTES + (uint64_t)SIMPMU_RING_BYTES + SIMPMU_CLAIM_BYTES)

/* Valgrind keeps its descriptors above the target's limit on open files. The kernel's
 * descriptor table must reach that far. Therefore the target's limit is capped at this
 * value. */
#define SIMPMU_FILES_MAX (1u << 20)

/* Every parameter of the model: X(field, key, unit, minimum, maximum). Presets
 * and --sim-set name them by key; the struct holds them in the same order. */
#define SIMPMU_PARAMETERS(X)                                                             \
        X(cores, "core.count", "cores", 1, 1024)                                         \
        X(clock_mhz, "core.clock_mhz", "MHz", 100, 10000)                                \
        X(issue_width, "core.issue_width", "instructions/cycle", 1, 16)                  \
        X(rob_entries, "core.rob_entries", "instructions", 16, 4096)                     \
        X(scheduler_entries, "core.scheduler_entries", "instructions", 1, 4096)          \
        X(vector_scheduler_entries, "core.vector_scheduler_entries", "instructions", 0,  \
          4096)                                                                          \
        X(address_scheduler_entries, "core.address_scheduler_entries", "instructions",   \
          0, 4096)                                                                       \
        X(lfb_entries, "core.lfb_entries", "lines", 1, 256)                              \
        X(store_buffer_entries, "core.store_buffer_entries", "stores", 1, 1024)          \
        X(load_buffer_entries, "core.load_buffer_entries", "loads", 1, 4096)             \
        X(load_ports, "core.load_ports", "loads/cycle", 1, 16)                           \
        X(store_ports, "core.store_ports", "stores/cycle", 1, 16)                        \
        X(lock_cycles, "core.lock_cycles", "cycles", 0, 1000)                            \
        X(mispredict_cycles, "branch.mispredict_cycles", "cycles", 0, 1000)              \
        X(unforwarded_cycles, "core.unforwarded_cycles", "cycles", 0, 1000)              \
        X(fetch_runs, "fetch.runs_per_cycle", "runs/cycle", 0.1, 16)                     \
        X(fetch_call_cycles, "fetch.call_cycles", "cycles", 0, 100)                      \
        X(fetch_indirect_cycles, "fetch.indirect_cycles", "cycles", 0, 100)              \
        X(fetch_run_instructions, "fetch.run_instructions", "instructions", 1, 64)       \
        X(fetch_loop_instructions, "fetch.loop_instructions", "instructions", 0, 4096)   \
        X(fetch_queue_entries, "fetch.queue_entries", "instructions", 1, 4096)           \
        X(fetch_ahead_cycles, "fetch.ahead_cycles", "cycles", 0, 10000)                  \
        X(op_cache_bytes, "op_cache.size_bytes", "bytes of code", 1024, 1048576)         \
        X(op_cache_ways, "op_cache.ways", "ways", 1, 32)                                 \
        X(decode_width, "decode.width", "instructions/cycle", 0.5, 16)                   \
        X(l1i_bytes, "l1i.size_bytes", "bytes", 4096, 1048576)                           \
        X(l1i_ways, "l1i.ways", "ways", 1, 32)                                           \
        X(forward_cycles, "store_forward.latency_cycles", "cycles", 0, 1000)             \
        X(forward_vector_cycles, "store_forward.vector_cycles", "cycles", 0, 1000)       \
        X(forward_renamed_cycles, "store_forward.renamed_cycles", "cycles", 0, 1000)     \
        X(forward_renames, "store_forward.renames", "0, 1 or 2", 0, 2)                   \
        X(multiply_cycles, "arithmetic.multiply_cycles", "cycles", 1, 1000)              \
        X(divide_cycles, "arithmetic.divide_cycles", "cycles", 1, 1000)                  \
        X(divide_interval_cycles, "arithmetic.divide_interval_cycles", "cycles", 1,      \
          1000)                                                                          \
        X(float_add_cycles, "float.add_cycles", "cycles", 1, 1000)                       \
        X(float_multiply_cycles, "float.multiply_cycles", "cycles", 1, 1000)             \
        X(float_fma_cycles, "float.fma_cycles", "cycles", 1, 1000)                       \
        X(float_divide_cycles, "float.divide_cycles", "cycles", 1, 1000)                 \
        X(float_sqrt_cycles, "float.sqrt_cycles", "cycles", 1, 1000)                     \
        X(float_divide_interval_cycles, "float.divide_interval_cycles", "cycles", 1,     \
          1000)                                                                          \
        X(l1d_bytes, "l1d.size_bytes", "bytes", 4096, 1048576)                           \
        X(l1d_ways, "l1d.ways", "ways", 1, 16)                                           \
        X(l1d_latency_cycles, "l1d.latency_cycles", "cycles", 1, 100)                    \
        X(alias_cycles, "l1d.alias4k_cycles", "cycles", 0, 1000)                         \
        X(alias_repeats, "l1d.alias4k_repeats", "loads", 0, 1)                           \
        X(set_interval_l2_cycles, "l1d.set_interval_l2_cycles", "cycles/line", 0, 1000)  \
        X(set_interval_l3_cycles, "l1d.set_interval_l3_cycles", "cycles/line", 0, 1000)  \
        X(l1d_hashed, "l1d.hashed_sets", "0 or 1", 0, 1)                                 \
        X(l2_bytes, "l2.size_bytes", "bytes", 4096, 67108864)                            \
        X(l2_ways, "l2.ways", "ways", 1, 32)                                             \
        X(l2_latency_cycles, "l2.latency_cycles", "cycles", 1, 1000)                     \
        X(l2_bytes_per_cycle, "l2.bytes_per_cycle", "bytes/cycle", 0.1, 1024)            \
        X(l2_write_path, "l2.write_path", "0 or 1", 0, 1)                                \
        X(l2_queue_entries, "l2.queue_entries", "lines", 1, 256)                         \
        X(l2_hashed, "l2.hashed_sets", "0 or 1", 0, 1)                                   \
        X(l3_bytes, "l3.size_bytes", "bytes", 65536, 1073741824)                         \
        X(l3_ways, "l3.ways", "ways", 1, 32)                                             \
        X(l3_latency_cycles, "l3.latency_cycles", "cycles", 1, 1000)                     \
        X(l3_bytes_per_cycle, "l3.bytes_per_cycle", "bytes/cycle", 0.1, 1024)            \
        X(l3_inclusion, "l3.inclusion", "0, 1 or 2", 0, 2)                               \
        X(l3_tenants_gbs, "l3.tenants_gbs", "GB/s", 0, 10000)                            \
        X(hitm_latency_cycles, "hitm.latency_cycles", "cycles", 1, 10000)                \
        X(hitm_hold_percent, "hitm.hold_percent", "% of the latency", 0, 100)            \
        X(stream_lines, "prefetch.stream_lines", "lines", 1, 256)                        \
        X(next_page, "prefetch.next_page", "0 or 1", 0, 1)                               \
        X(dtlb_entries, "dtlb.entries", "pages", 1, 4096)                                \
        X(dtlb_ways, "dtlb.ways", "ways", 1, 32)                                         \
        X(dtlb_huge_entries, "dtlb.huge_entries", "pages", 1, 4096)                      \
        X(dtlb_huge_ways, "dtlb.huge_ways", "ways", 1, 32)                               \
        X(stlb_entries, "stlb.entries", "pages", 1, 65536)                               \
        X(stlb_ways, "stlb.ways", "ways", 1, 32)                                         \
        X(stlb_latency_cycles, "stlb.latency_cycles", "cycles", 0, 1000)                 \
        X(stlb_interval_cycles, "stlb.interval_cycles", "cycles/page", 0, 1000)          \
        X(page_walk_cycles, "page_walk.latency_cycles", "cycles", 0, 10000)              \
        X(huge_walk_cycles, "page_walk.huge_latency_cycles", "cycles", 0, 10000)         \
        X(walkers, "page_walk.walkers", "walks", 1, 16)                                  \
        X(dram_latency_ns, "dram.latency_ns", "ns", 1, 10000)                            \
        X(dram_bandwidth_gbs, "dram.bandwidth_gbs", "GB/s", 0.01, 10000)                 \
        X(dram_channels, "dram.channels", "channels", 1, 64)                             \
        X(dram_turnaround_ns, "dram.turnaround_ns", "ns", 0, 1000)                       \
        X(dram_write_batch, "dram.write_batch", "lines", 1, 1024)                        \
        X(dram_write_ns, "dram.write_ns", "ns", 0, 10000)                                \
        X(nontemporal_ns, "dram.nontemporal_ns", "ns", 0, 10000)                         \
        X(nodes, "numa.nodes", "nodes", 1, 8)                                            \
        X(spread, "numa.spread", "0 or 1", 0, 1)                                         \
        X(link_latency_ns, "numa.link_latency_ns", "ns", 0, 10000)                       \
        X(link_bandwidth_gbs, "numa.link_bandwidth_gbs", "GB/s", 0.01, 10000)            \
        X(remote_cache_ns, "numa.cache_latency_ns", "ns", 1, 10000)                      \
        X(kernel_fault_ns, "kernel.fault_ns", "ns", 0, 1000000)                          \
        X(kernel_call_ns, "kernel.call_ns", "ns", 0, 1000000)                            \
        X(kernel_copy_gbs, "kernel.copy_gbs", "GB/s", 0.01, 10000)

struct simpmu_params {
#define SIMPMU_FIELD(field, key, unit, minimum, maximum) double field;
        SIMPMU_PARAMETERS(SIMPMU_FIELD)
#undef SIMPMU_FIELD
};

/* Hardware prefetchers: X(symbol, name). */
#define SIMPMU_PREFETCHER_LIST(X)                                                        \
        X(L1_NEXT, "l1-next")                                                            \
        X(L1_IP_STRIDE, "l1-ip-stride")                                                  \
        X(L2_STREAMER, "l2-streamer")                                                    \
        X(L2_ADJACENT, "l2-adjacent")

enum simpmu_prefetcher {
#define SIMPMU_ENUM(symbol, name) SIMPMU_##symbol,
        SIMPMU_PREFETCHER_LIST(SIMPMU_ENUM)
#undef SIMPMU_ENUM
            SIMPMU_PREFETCHER_COUNT
};

/* Files whose code the simulated processes run (simpmu/code_changes.c): sets of hashes of
 * device and inode, all atomic. */
#define SIMPMU_CODE_BITS 8192u

struct simpmu_code {
        uint64_t
            begun_realtime_ns; /* of CLOCK_REALTIME_COARSE, at the recording's start */
        uint64_t changes;      /* grows when code has changed that was taken to stay */
        uint8_t in_use[SIMPMU_CODE_BITS / 8];
        uint8_t changing[SIMPMU_CODE_BITS / 8];
};

/* An instruction whose data is brought in time (in_time.h), by where it lies in a
 * file. */
#define SIMPMU_IN_TIME_MAX 48u
struct simpmu_in_time {
        uint64_t path_hash; /* path_hash.h */
        uint64_t file_offset_bytes;
};

struct simpmu_control {
        uint64_t magic;
        uint32_t version;
        uint32_t loads_only;   /* 1: neither stores nor page faults are samples */
        uint64_t period_loads; /* mean number of qualifying loads from sample to sample */
        uint64_t period_ns;    /* unless 0, instead: of time that loads hold others up */
        /* Mean number of slots, of instructions and of wrong predictions, from one
         * SIMPMU_EXECUTED to the next (0: none). */
        uint64_t period_instructions;
        uint64_t seed;         /* of the period's jitter */
        uint64_t interval_ns;  /* virtual time from one counter reading to the next */
        uint32_t ldlat_cycles; /* loads of at least this latency qualify */
        uint32_t stack_frames; /* deepest call stack to record; 0: none */
        struct simpmu_params params;
        uint64_t slices_claimed; /* atomic */
        uint32_t stop;           /* atomic: 1 once memlag wants no more records */
        uint32_t no_heap;        /* 1: the heap tracker must be silent */
        uint32_t heaps_cut_off;  /* atomic: processes that cannot tell of their heap */
        uint32_t prefetch;       /* a bit of each simpmu_prefetcher that is on */
        uint32_t caches_only;    /* 1: nothing waits for values */
        uint32_t branches;       /* 1: they are predicted, which may be wrong */
        /* 1: the heap tracker of a target that runs as it is notes the time stamp counter
         * in the place of time_ns. */
        uint32_t time_in_ticks;
        uint32_t programs_refused;  /* atomic: executed; they cannot take the tracker */
        uint32_t sandboxes_refused; /* atomic: requests of simulated targets */
        uint32_t calls_untold;      /* atomic: of tracked functions, not reported */
        uint32_t plans;             /* 1: there is a struct simpmu_plan */
        uint32_t traces;            /* atomic; 1: the target traced processes */
        uint32_t in_time_count;     /* such instructions */
        struct simpmu_in_time in_time[SIMPMU_IN_TIME_MAX];
        struct simpmu_code code;
};

_Static_assert(sizeof(struct simpmu_control) <= SIMPMU_CONTROL_BYTES,
               "the control page is full");

/* How a run of `memlag whatif` places objects of the program in the model only. */
enum simpmu_change {
        SIMPMU_UNCHANGED,
        SIMPMU_HUGE_PAGES,
        SIMPMU_LOCAL,  /* in the memory of each node that accesses them */
        SIMPMU_AROUND, /* stores of them go around the caches */
        SIMPMU_LAYOUT  /* as arrays of other structs */
};

/* The plan's arrays follow the header in this order. */
struct simpmu_plan {
        uint32_t change; /* enum simpmu_change */
        uint32_t part_count;
        uint32_t piece_count;
        uint32_t object_count;
        uint32_t element_bytes; /* of the program's own layout */
        uint32_t frames;        /* deepest call stack of the objects */
};

/* An array that has a piece of each element. */
struct simpmu_part {
        uint32_t element_bytes;
        uint32_t align_bytes; /* of the array; a power of two */
};

/* Bytes of an element, and where they are in an element of PART. The pieces of an element
 * are in the order of FROM, and cover it without gaps. */
struct simpmu_piece {
        uint32_t from;
        uint32_t bytes;
        uint32_t part;
        uint32_t to;
};

/* A global variable, or the blocks of one allocation site. */
struct simpmu_object {
        uint32_t frames;       /* innermost frames of the allocations; 0: a global */
        uint32_t header_bytes; /* before the first element */
        uint64_t where; /* place_hash of the frames; of a global: path_hash of its file */
        uint64_t offset_bytes; /* a global's, from where its file is mapped first */
        uint64_t size_bytes;   /* a global's */
};

/* The first page of a slice; the ring's bytes follow, then the claims. head and tail
 * count bytes from the start of the recording and only grow. Records are 8-byte
 * aligned and never wrap: a SIMPMU_PAD fills the rest of the ring. A PAD only needs
 * its first 8 bytes (size_bytes, type, flags).
 *
 * The producer reserves the last SIMPMU_END_RESERVE_BYTES of room for the END record
 * of an image that an exec has replaced. That END can then be written without waiting.
 * simpmu-launch writes it: it runs exactly when an exec has succeeded. */
#define SIMPMU_END_RESERVE_BYTES 64u

struct simpmu_slice {
        uint64_t magic;           /* stored last (release) when the slice is ready */
        uint64_t done;            /* atomic: 1 when the process has ended or exec'd */
        uint64_t now_ns;          /* the process's latest virtual time */
        uint64_t start_ns;        /* the virtual time at which it began */
        uint64_t parent;          /* 1 + the slice of the image that forked it, 0: none */
        uint64_t children_end_ns; /* atomic: the latest end of processes that it forked */
        uint64_t head __attribute__((aligned(64))); /* atomic, producer */
        uint64_t latest; /* atomic: head of a target that runs as it is: owner.h */
        uint64_t tail __attribute__((aligned(64))); /* atomic, consumer */
        uint64_t taken; /* atomic, likewise: it clears up to there, and moves tail on */
        uint32_t space_futex;    /* changed and woken by the consumer when it made room */
        uint32_t producer_waits; /* atomic: 1 while a producer waits for room */
        uint32_t executing;      /* atomic: 1 from before an exec until that has failed */
        uint32_t latest_counters; /* atomic: used of SIMPMU_LATEST_COUNTERS */
};

enum simpmu_record_type {
        SIMPMU_PAD,
        SIMPMU_PROCESS, /* first record of every slice */
        SIMPMU_FORK,
        SIMPMU_THREAD,
        SIMPMU_THREAD_EXIT,
        SIMPMU_MAP,
        SIMPMU_UNMAP,
        SIMPMU_SAMPLE,
        SIMPMU_COUNTERS,
        SIMPMU_ALLOC,
        SIMPMU_FREE,
        SIMPMU_TRACKER,   /* the heap tracker has been loaded */
        SIMPMU_UNHANDLED, /* Valgrind cannot run an instruction */
        SIMPMU_STACK,     /* the next three: of a native target, see below */
        SIMPMU_ALLOC_AT,
        SIMPMU_RANGE_FREE,
        SIMPMU_END,    /* last record: exit, fatal signal or exec */
        SIMPMU_RESIZE, /* a block is given another size, see heap/event.h */
        SIMPMU_RESIZED,
        SIMPMU_LINE,     /* what became of a sample's line */
        SIMPMU_EXECUTED, /* a sample of time, see period_instructions */
        SIMPMU_THREAD_NAME
};

/* time_ns does not decrease from record to record of a slice, except in
 * SIMPMU_COUNTERS. The clocks of threads differ by up to the model's gate window. A
 * record after a record of a thread further ahead takes the later time. */
struct simpmu_record {
        uint32_t size_bytes; /* of the whole record, a multiple of 8 */
        uint16_t type;
        uint16_t flags;
        uint32_t tid; /* 0 where no thread is meant */
        uint32_t reserved;
        uint64_t time_ns; /* or ticks, see time_in_ticks */
};

/* flags of SIMPMU_PROCESS */
enum { SIMPMU_STARTED = 1, SIMPMU_FORKED = 2 };

/* flags of SIMPMU_FORK: there is no child after all */
enum { SIMPMU_FORK_FAILED = 1 };

struct simpmu_process {
        struct simpmu_record header;
        uint32_t pid; /* as the process itself sees it */
        uint32_t reserved;
        uint64_t origin;   /* 1 + the slice of the image that this one was forked from,
                              or takes the place of by exec; 0: none */
        char executable[]; /* NUL-terminated, padded */
};

/* The image is about to fork: the child takes slice CHILD, and inherits the state that
 * the records up to here describe. The record stands in the ring before there is a
 * child. So the order of the two rings does not matter, and no child can be missed. A
 * failed fork has a record too, and the next fork uses the slice. */
struct simpmu_fork {
        struct simpmu_record header;
        uint64_t child;
};

struct simpmu_executed {
        struct simpmu_record header;
        uint64_t ip;
};

struct simpmu_thread {
        struct simpmu_record header;
        uint64_t stack_low; /* the thread's stack, 0 when not known */
        uint64_t stack_high;
};

#define SIMPMU_NAME_BYTES 16 /* TASK_COMM_LEN of the kernel */

/* A thread's name, at its start and after each change. */
struct simpmu_thread_name {
        struct simpmu_record header;
        char name[SIMPMU_NAME_BYTES]; /* NUL-terminated */
};

/* flags of SIMPMU_MAP */
enum { SIMPMU_READ = 1, SIMPMU_WRITE = 2, SIMPMU_EXEC = 4 };
#define SIMPMU_BUILD_ID_BYTES 20

enum simpmu_map_kind {
        SIMPMU_MAP_FILE,
        SIMPMU_MAP_ANON,
        SIMPMU_MAP_HEAP, /* brk */
        SIMPMU_MAP_STACK,
        SIMPMU_MAP_VDSO
};

struct simpmu_map {
        struct simpmu_record header;
        uint64_t start;
        uint64_t length_bytes;
        uint64_t file_offset_bytes;
        uint16_t kind;           /* enum simpmu_map_kind */
        uint16_t build_id_bytes; /* 0: not known from the mapping */
        uint8_t build_id[SIMPMU_BUILD_ID_BYTES];
        char path[]; /* NUL-terminated, padded; empty without a file */
};

struct simpmu_unmap {
        struct simpmu_record header;
        uint64_t start;
        uint64_t length_bytes;
};

enum simpmu_level {
        SIMPMU_LEVEL_L1,
        SIMPMU_LEVEL_LFB,
        SIMPMU_LEVEL_L2,
        SIMPMU_LEVEL_L3,
        SIMPMU_LEVEL_FORWARD, /* another core of the node had the line */
        SIMPMU_LEVEL_HITM,    /* and had modified it */
        SIMPMU_LEVEL_DRAM,
        SIMPMU_LEVEL_REMOTE_DRAM,  /* the next levels are on another node */
        SIMPMU_LEVEL_REMOTE_CACHE, /* its L3 */
        SIMPMU_LEVEL_REMOTE_HITM,
        SIMPMU_LEVEL_COUNT
};

/* flags of SIMPMU_SAMPLE; an instruction that loads and stores is sampled as a load.
 * TLB_MISS: a page walk occurred; STLB_HIT: the second level had the translation.
 * RETIRED: retire_latency_cycles is known. UNFORWARDED: it waited for a store of some
 * of its bytes. ALIASED: it aliased with a store to another page. STORE: a store; its
 * latency is its line's latency, and retire_latency_cycles is the stall for its place
 * in the store buffer. */
enum {
        SIMPMU_TLB_MISS = 1,
        SIMPMU_LOCKED = 2,
        SIMPMU_RETIRED = 4,
        SIMPMU_STLB_HIT = 8,
        SIMPMU_UNFORWARDED_LOAD = 16,
        SIMPMU_STORE = 32,
        SIMPMU_ALIASED_LOAD = 64
};

struct simpmu_sample {
        struct simpmu_record header;
        uint64_t ip;
        uint64_t addr;
        uint32_t stall_ns;              /* that it stands for; 0: sampled by loads */
        uint32_t retire_latency_cycles; /* since the instruction before it retired */
        uint32_t latency_cycles;
        uint16_t level; /* enum simpmu_level */
        uint16_t cpu;
        uint16_t depth;       /* frames, innermost first; frame 0 is ip, the others are
                                 return addresses */
        uint16_t other_depth; /* frames after these, when addr is on the stack of
                                 another thread: the frame with addr, by its
                                 instruction, and its callers, by return addresses; 0:
                                 it is not, or not known */
        uint32_t stack_frame; /* the one of depth whose part of the stack addr is in, from
                                 1; 0: addr is not on the stack, or deeper than frames */
        uint64_t frame_cfa;   /* in either case: that frame's canonical frame address */
        uint64_t thread_pointer; /* 0: not set yet */
        /* For page faults, which have no latency and no level: the number of faults
         * that this record stands for (0: it is a load), their total time in the
         * kernel, and the bytes of the page. */
        uint32_t faults;
        uint32_t page_bytes;
        uint32_t few_sets; /* of L1, that a miss is one of; 0: of many, or no miss */
        uint32_t watch;    /* its number among samples with SIMPMU_LINE, from 1; or 0 */
        uint64_t kernel_cycles;
        uint64_t frames[];
};

/* The counters of a thread, in this order in simpmu_counters.value: X(symbol, name,
 * unit). The names are the names of the corresponding events. */
#define SIMPMU_COUNTER_LIST(X)                                                           \
        X(CYCLES, "cpu_clk_unhalted.thread", "cycles")                                   \
        X(INSTRUCTIONS, "inst_retired.any", "events")                                    \
        X(LOADS, "mem_inst_retired.all_loads", "events")                                 \
        X(PENDING, "l1d_pend_miss.pending", "cycles")                                    \
        X(L1_MISS, "mem_load_retired.l1_miss", "events")                                 \
        X(FB_HIT, "mem_load_retired.fb_hit", "events")                                   \
        X(FB_FULL, "l1d_pend_miss.fb_full", "cycles")                                    \
        X(NO_EXECUTE, "cycle_activity.cycles_no_execute", "cycles")                      \
        X(STALLS_L1D, "cycle_activity.stalls_l1d_pending", "cycles")                     \
        X(STALLS_L2, "cycle_activity.stalls_l2_pending", "cycles")                       \
        X(STALLS_L3, "cycle_activity.stalls_l3_miss", "cycles")                          \
        X(STALLS_LDM, "cycle_activity.stalls_ldm_pending", "cycles")                     \
        X(SB_FULL, "resource_stalls.sb", "cycles")                                       \
        X(SQ_FULL, "offcore_requests_buffer.sq_full", "cycles")                          \
        X(DEMAND_READ, "offcore_requests.demand_data_rd", "events")                      \
        X(DEMAND_RFO, "offcore_requests.demand_rfo", "events")                           \
        X(OFFCORE_ALL, "offcore_requests.all_requests", "events")                        \
        X(OFFCORE, "offcore_response.demand_data_rd.l3_miss", "events")                  \
        X(STLB_HIT_LOADS, "dtlb_load_misses.stlb_hit", "events")                         \
        X(WALKED_LOADS, "dtlb_load_misses.walk_completed", "events")                     \
        X(DRAM_READ, "dram.read_bytes", "bytes")                                         \
        X(DRAM_WRITE, "dram.write_bytes", "bytes")                                       \
        X(SPLIT_LOADS, "mem_inst_retired.split_loads", "events")                         \
        X(SPLIT_STORES, "mem_inst_retired.split_stores", "events")                       \
        X(UNFORWARDED, "ld_blocks.store_forward", "events")                              \
        X(ALIASED, "ld_blocks_partial.address_alias", "events")                          \
        X(PAGE_FAULTS, "page-faults", "events")                                          \
        X(KERNEL_FAULT, "kernel.fault_cycles", "cycles")                                 \
        X(KERNEL_CALL, "kernel.call_cycles", "cycles")                                   \
        X(MISPREDICTS, "br_misp_retired.all_branches", "events")

enum simpmu_counter {
#define SIMPMU_ENUM(symbol, name, unit) SIMPMU_##symbol,
        SIMPMU_COUNTER_LIST(SIMPMU_ENUM)
#undef SIMPMU_ENUM
            SIMPMU_COUNTER_COUNT
};

/* flags of SIMPMU_COUNTERS: without it the last counter stands for nothing */
#define SIMPMU_BRANCHES 1u

/* header.time_ns is the end of the reading; intervals begin at multiples of
 * interval_ns, so only the first and last reading of a thread are shorter.
 *
 * A record that is not in the ring but behind it has the thread's current interval up to
 * its latest sample, for an image that does not end by itself. While it is written,
 * header.reserved is odd; header.size_bytes is 0 where an interval has just ended. */
struct simpmu_counters {
        struct simpmu_record header;
        uint64_t start_ns;
        uint64_t value[SIMPMU_COUNTER_COUNT];
};

struct simpmu_alloc {
        struct simpmu_record header;
        uint64_t addr;
        uint64_t size_bytes;
        uint32_t function; /* enum heap_function of heap/event.h */
        uint32_t depth;    /* frames, innermost first: return addresses, the first
                              one in the caller of the allocator */
        uint64_t frames[];
};

/* SIMPMU_FREE, SIMPMU_RESIZE and SIMPMU_RESIZED */
struct simpmu_free {
        struct simpmu_record header;
        uint64_t addr;
};

/* flags of SIMPMU_LINE: VALUE has a bit of each byte of the line that was used until it
 * left L1 and L2. Without it VALUE has the bytes of the smallest fully associative LRU
 * cache that keeps the line until it is next requested; 0: it never was. */
enum { SIMPMU_LINE_USED = 1 };

struct simpmu_line {
        struct simpmu_record header;
        uint64_t watch; /* of the sample, which may come later if it is a store */
        uint64_t value;
};

struct simpmu_unhandled {
        struct simpmu_record header;
        uint64_t ip;
        uint8_t bytes[16];
        uint32_t length;
        uint32_t reserved;
};

/* ---- a native target ----
 *
 * The heap tracker uses the same file in a process that is not simulated, and writes
 * only block records. Its threads write concurrently. Each reserves room by changing
 * LATEST, and stores the first 8 bytes of its record (size_bytes, type, flags) last.
 * Until then they are 0, because the consumer clears everything it has read. Times are
 * CLOCK_MONOTONIC. Nobody holds locks or sets now_ns; the first record is a
 * SIMPMU_PROCESS. */

/* A call stack, written before the first allocation with it. */
struct simpmu_stack {
        struct simpmu_record header;
        uint64_t hash; /* its id in SIMPMU_ALLOC_AT, in this slice */
        uint32_t depth;
        uint32_t reserved;
        uint64_t frames[]; /* as in simpmu_alloc */
};

struct simpmu_alloc_at {
        struct simpmu_record header;
        uint64_t addr;
        uint64_t size_bytes;
        uint64_t stack; /* 0: none */
        uint32_t function;
        uint32_t reserved;
};

/* Every block, or part of one, in the range ends. */
struct simpmu_range_free {
        struct simpmu_record header;
        uint64_t start;
        uint64_t length_bytes;
        uint64_t replaced; /* 0: nothing is there any more; else another mapping is */
};

/* flags of SIMPMU_END; NATIVE comes with EXECED: the new program cannot be simulated
 * (not a 64-bit x86 ELF file) and runs on unrecorded. SIGNALLED comes with EXITED. */
enum { SIMPMU_EXITED = 1, SIMPMU_EXECED = 2, SIMPMU_NATIVE = 4, SIMPMU_SIGNALLED = 8 };

#endif
