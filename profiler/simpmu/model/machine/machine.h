/* SPDX-License-Identifier: MIT */
/* The simulated machine. A node (socket) has an L3, a main memory and a link to the
 * other nodes. A core has a private L1D, L2 and TLB. Coherence connects the caches.
 * Latencies are load-to-use and in slots. */
#ifndef SIMPMU_MODEL_MACHINE_H
#define SIMPMU_MODEL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "branch.h"
#include "cache.h"
#include "contest.h"
#include "dram.h"
#include "hot.h"
#include "l1d.h"
#include "pages.h"
#include "path.h"
#include "places.h"
#include "protocol.h"
#include "thread.h"
#include "tlb.h"
#include "watch.h"

/* The state of the L2 prefetchers: see prefetch.h. */
#define STREAMS     32u  /* pages that are followed */
#define L2_REQUESTS 256u /* lines in flight to L2 are looked up here */
#define NO_LINE     INT32_MIN

struct stream {
        uint64_t page;
        int32_t last;      /* last requested line of the page, or NO_LINE; a line of the
                              page before when the stream has come from there */
        int32_t low, high; /* and the ends of the requested range */
        int32_t ahead;     /* and the furthest that has been prefetched */
        int32_t trend;     /* how often the stream has gone on: > 0 upwards */
};

/* State of the IP-stride prefetcher for one load address. */
#define STRIDE_LOADS 256u

struct strided_load {
        uint64_t ip;
        uint64_t address; /* that it has read last */
        int64_t stride;   /* bytes from the one before */
};

struct l2_request {
        uint64_t line;
        uint64_t arrival;
        enum simpmu_level level;
};

#define NODES_MAXIMUM 8u
#define TENANT_SHIFT  48u

struct node {
        struct cache l3;
        struct dram dram;
        struct dram link; /* for reads of this memory by other nodes: its latency is
                             the extra latency */
        uint32_t number;
        uint64_t cores; /* the set of its cores, as in contest.h */
};

/* The effect of l3.inclusion on lines in the cores of a node. */
enum inclusion {
        INCLUSION_NONE,  /* read lines go to every level, and leave each on their own */
        INCLUSION_ALL,   /* a line that leaves the L3 leaves the cores, too */
        INCLUSION_VICTIM /* read lines go to L2, and to the L3 when they leave that */
};

/* The sets of L1 that the last misses were of. */
#define MISSED_SETS 64u

struct core {
        struct l1d l1d;
        struct cache l2;
        struct tlb tlb;
        const struct sim_thread *runs; /* the thread whose clock the times in l1d use */
        struct node *node;
        uint32_t number;
        struct sim_hot *hot;          /* filters that may let lines of L1 pass */
        struct contender *contenders; /* see contest.h */
        uint64_t last_request;        /* when the last of the requests arrives */
        bool queue_fills;             /* requests may outnumber the places */
        struct path from_l2;          /* to L1 */
        struct path from_stlb;        /* translations of loads */
        struct path from_beyond;      /* to L2 */
        struct places queue;          /* of requests beyond L2 */
        uint32_t lines_to_write;      /* pushed out by a request that has no place yet */
        uint64_t queue_full_until;    /* demand requests have waited for a place */
        uint64_t streamer_waits;      /* for a place, until then */
        struct branch_predictor predictor;
        struct cache op_cache; /* of lines whose decoded instructions are at hand */
        struct cache l1i;
        double decode_remainder; /* fraction of a slot, from decoding */
        uint32_t misses;         /* of L1 */
        uint32_t missed_sets[MISSED_SETS];
        struct stream streams[STREAMS];
        uint32_t next_stream; /* the one to replace next */
        struct strided_load strided_loads[STRIDE_LOADS];
        struct l2_request requests[L2_REQUESTS];
};

/* Timing of the front end: see fetch.h. */
struct fetch {
        bool has_caches; /* of code */
        uint64_t run_slots;
        uint64_t return_slots;   /* a return, with the run that it ends */
        uint64_t indirect_slots; /* the same for an indirect jump or call */
        double decode_slots;     /* an instruction whose decoded form is not at hand */
        uint64_t line_slots;     /* from a line of L2's to the next */
        uint64_t ahead_limit;    /* no line is requested earlier before its use */
};

/* A directory entry for one line (coherence.h). */
#define SHARED_LINES 131072u /* a power of two */

struct shared_line {
        uint64_t line;
        uint64_t cores;       /* that may have it: bits of core numbers modulo 64 */
        uint64_t moved;       /* when one core last took it from another */
        uint32_t modified_by; /* core + 1, if it still has it; 0: none */
        uint32_t reserved;
};

/* Everything about one memory access that is the same in every execution. */
enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_UPDATE };

struct access_site {
        struct waits address;  /* values that the address depends on */
        int32_t position;      /* of the instruction, after those counted when it runs */
        int32_t stores_before; /* in the program, after those counted */
        uint16_t size_bytes;
        uint8_t kind; /* enum access_kind */
        uint8_t slot; /* of a load: the number of its value */
        uint64_t ip;
        uint16_t form; /* see FORM_UNKNOWN and so on */
        uint16_t unreached; /* of a load: entries of the reorder buffer that instructions
                               behind it cannot take while it is late */
        bool locked;
        bool nontemporal; /* of a store: see combining.h */
        bool updates;     /* of a load: its instruction stores, too */
        bool rewrites;    /* of a load: its instruction stores to the same address */
        bool of_string; /* the first access of a repeated string instruction to a chunk */
};

/* Processors move a chunk at a time in repeated string instructions. */
enum { STRING_CHUNK_SHIFT = 5, STRING_CHUNK_BYTES = 1 << STRING_CHUNK_SHIFT };

/* The bytes that an access stands for. */
static inline uint32_t access_used_bytes(const struct access_site *site)
{
        return site->of_string ? STRING_CHUNK_BYTES : site->size_bytes;
}

/* The effect of store_forward.renames on values that a load gets from an earlier
 * store. */
enum renaming {
        RENAMES_NOTHING,
        RENAMES_FORMS,   /* of general registers, where both write the address alike */
        RENAMES_GENERAL, /* all of general registers */
};

/* The kernel's work at the first touch of a page. */
enum page_kind {
        PAGE_IS_THERE, /* nothing */
        PAGE_IS_ZEROED,
        PAGE_IS_OF_FILE /* the kernel maps it from the page cache */
};

struct sim_sample {
        const struct access_site *site;
        uint64_t address;
        uint64_t time_slots; /* of the load's dispatch */
        uint64_t latency_slots;
        uint64_t retire_slots; /* from the retirement before it to its own retirement */
        uint64_t stall_slots;  /* the time that the sample stands for, in samples of
                                  stalls, else 0 */
        uint64_t kernel_slots; /* of a page fault, which has none of the above; else 0 */
        uint32_t page_bytes;   /* likewise */
        bool unforwarded;      /* a store before it had only a part of its bytes */
        bool
            aliased; /* a store before it to another page has the same low address bits */
        /* The number of sets of this and earlier L1 misses, if these sets have fewer
         * ways than misses; else 0. */
        uint32_t few_sets;
        uint32_t watch; /* the number by which its line is watched; 0: it is not */
        enum simpmu_level level;
        enum tlb_outcome translation;
        bool of_store; /* its latency is its line's latency, and retire_slots is not
                          known */
};

struct machine {
        struct node nodes[NODES_MAXIMUM];
        uint32_t node_count;
        uint32_t nodes_used; /* that have cores in use: nodes[0 .. nodes_used) */
        enum inclusion inclusion;
        struct pages pages;
        uint64_t local_from; /* these lines are in the memory of each node */
        uint64_t local_lines;
        struct shared_line *shared_lines; /* once a second core is used */
        struct contests contests;
        struct watch watch; /* of nothing at first */
        uint64_t slots_per_cycle;
        uint64_t l1d_latency;
        uint64_t l2_latency;
        uint64_t l3_latency;
        bool write_path;       /* for modified lines from L1 to L2 alone */
        bool lines_take_turns; /* in a set of L1, at one of the intervals: */
        uint64_t set_interval_l2;
        uint64_t set_interval_l3; /* also of lines from beyond */
        uint64_t tenant_rate;  /* of lines that other tenants insert into a set of L3, per
                                  2^TENANT_SHIFT slots */
        uint64_t hitm_latency; /* of a line that another core has modified */
        uint64_t hitm_hold;    /* for which a core that fights for a line keeps it */
        uint64_t remote_cache_latency;
        uint64_t write_time;       /* a memory write occupies a place for it */
        uint64_t nontemporal_time; /* and a line written past the caches a fill buffer */
        uint64_t stlb_latency;
        uint64_t walk_latency;
        uint64_t huge_walk_latency;
        uint64_t forward_latency; /* from a stored value to the load that has it, */
        uint64_t forward_vector_latency;  /* the same for vector registers, */
        uint64_t forward_renamed_latency; /* and where the core renames memory */
        uint64_t forward_longest;         /* of these */
        enum renaming renaming;
        uint64_t mispredict_cost; /* from a branch's execution to the next instruction */
        struct fetch fetch;
        struct code *code;         /* where branches are followed; else NULL */
        uint64_t unforwarded_cost; /* from a store's retirement to a load that needs
                                      only some of its bytes */
        uint64_t alias_cost;       /* of a load that aliases with a store in its buffer */
        uint64_t lock_cost;      /* of a locked instruction or fence; 0: no such thing */
        uint64_t sample_latency; /* loads of at least this latency qualify */
        bool samples_stalls;     /* instead: by the time that loads hold up retirement */
        bool loads_only;         /* neither stores nor page faults are samples */
        bool one_load_waits;     /* a line in flight counts as present for all others */
        uint32_t fill_buffers;
        uint32_t prefetch;   /* a bit of each simpmu_prefetcher that is on; 0 at first */
        uint32_t core_count; /* of all nodes */
        uint32_t cores_used; /* cores[0 .. cores_used) exist */
        struct core **cores;
        struct simpmu_params params;
        sim_allocate allocate;
        void (*on_sample)(const struct sim_sample *sample);
        uint64_t fault_cost;      /* page fault, without the kernel's writes */
        uint64_t call_cost;       /* of a system call, likewise */
        double kernel_line_slots; /* that the kernel takes at least to write a line */
        bool fork_is_alone;       /* the pages of a fork have no other process any more */
        /* The kind of the untouched PAGE, and the pages from FIRST to before END of
         * its mapping; NULL: no page is ever new. */
        enum page_kind (*page_kind)(uint64_t page, uint64_t *first, uint64_t *end);
        /* For a store that keeps its place in the buffer. on_store_done gets the
         * result when the store leaves. NULL: stores are not sampled. */
        void *(*on_store)(const struct sim_sample *sample);
        sim_store_done on_store_done;
};

/* PARAMS must lie within the limits of SIMPMU_PARAMETERS. */
void machine_init(struct machine *machine, const struct simpmu_params *params,
                  uint32_t ldlat_cycles, sim_allocate allocate,
                  void (*on_sample)(const struct sim_sample *sample));

/* The mapping of COUNT pages from FIRST on has changed: HOT's thread and the TLBs of
 * all cores have to look them up again. */
void machine_forget_translations(struct machine *machine, struct sim_hot *hot,
                                 uint64_t first, uint64_t count);

/* See dram_set_others. */
void machine_set_others(struct machine *machine, uint64_t clock);

/* Threads run in turns: see dram_end_turn and dram_expect. */
void machine_end_turn(struct machine *machine, const struct core *core, uint64_t slots);
void machine_expect(struct machine *machine, const struct core *core);

/* The cold half of machine_tick. */
void machine_tick_all(struct machine *machine, uint64_t clock);

/* A thread's clock stands at CLOCK: see dram_tick. */
static inline void machine_tick(struct machine *machine, uint64_t clock)
{
        if (__builtin_expect(machine->nodes_used == 1, 1))
                dram_tick(&machine->nodes[0].dram, clock);
        else
                machine_tick_all(machine, clock);
}

/* The node that LINE's memory is on; a page that is on none yet is now on FIRST, the one
 * of the core that touches it. */
static inline struct node *machine_home(struct machine *machine, uint64_t line,
                                        struct node *first)
{
        if (machine->node_count == 1)
                return &machine->nodes[0];
        if (line - machine->local_from < machine->local_lines)
                return first;
        struct page *page = pages_at(&machine->pages, line >> PAGE_LINE_SHIFT);
        if (page->node == 0)
                page->node = (uint8_t)(first->number + 1);
        return &machine->nodes[page->node - 1];
}

/* Thread number K on its core, its clock at START slots; THREAD is all zero. */
void machine_thread_init(struct machine *machine, struct sim_thread *thread, uint32_t k,
                         uint64_t start, uint64_t period_loads, uint64_t seed);

/* HOT becomes the state of THREAD, whose counts and ready times it has been given. */
void machine_thread_runs(struct sim_hot *hot, const struct sim_thread *thread);

/* After a fork, in either process. */
void machine_shares_pages(struct machine *machine, struct sim_hot *hot);

/* MACHINE now belongs to a forked child, and HOT's thread continues in it. Lines that
 * the parent had modified are unmodified here, because the parent writes them back. */
void machine_forked(struct machine *machine, struct sim_hot *hot);

/* How long the translation takes of an access, a LOAD or not, that can begin at START. */
static inline uint64_t tlb_latency(const struct machine *machine, struct core *core,
                                   enum tlb_outcome outcome, uint64_t start, bool load)
{
        if (__builtin_expect(outcome == TLB_HIT, 1))
                return 0;
        if (outcome == TLB_STLB_HIT)
                return (load ? path_take(&core->from_stlb, start) - start : 0) +
                       machine->stlb_latency;
        return tlb_walk(&core->tlb, start,
                        outcome == TLB_WALK ? machine->walk_latency
                                            : machine->huge_walk_latency);
}

/* CORE accesses PAGE. */
static inline enum tlb_outcome machine_translate(struct machine *machine,
                                                 struct core *core, uint64_t page)
{
        if (tlb_passes(&core->tlb, page))
                return TLB_HIT;
        return tlb_lookup(&core->tlb, page, pages_huge(&machine->pages, page));
}

static inline double machine_slots_per_ns(const struct machine *machine)
{
        return machine->params.clock_mhz * (double)machine->slots_per_cycle / 1000.0;
}

/* The thread's counters in the units of the protocol. The first three come from HOT. */
void machine_read_counters(const struct machine *machine, struct sim_thread *thread,
                           uint64_t instructions, uint64_t loads, uint64_t busy,
                           uint64_t value[SIMPMU_COUNTER_COUNT]);

#endif
