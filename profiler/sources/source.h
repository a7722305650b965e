/* SPDX-License-Identifier: MIT */
/* The sources of samples. Every source (the simulated PMU, hardware, timers, recordings
 * of perf) delivers the same events to one sink; none knows the database. */
#ifndef MEMLAG_SOURCE_H
#define MEMLAG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "diag.h"
#include "validation.h"

enum numbers { NUMBERS_MEASURED, NUMBERS_MODELLED, NUMBERS_IMPORTED };

/* A program image in the sink's terms. Sources use any value that is unique in the run,
 * such as the index of a simulated process. */
typedef uint64_t image_key;

struct event_process { /* fork and exec each begin a new image */
        image_key image;
        image_key parent; /* 0: none */
        uint32_t pid;
        const char *executable;
        bool forked; /* it inherits its parent's mappings and live blocks */
};

enum { EVENT_BUILD_ID_BYTES = 20 };

struct event_mapping {
        image_key image;
        uint64_t start_addr;
        uint64_t length_bytes;
        uint64_t file_offset_bytes;
        int kind;           /* enum mapping_kind of db.h */
        uint32_t stack_tid; /* a thread's stack: its tid, else 0 */
        char protection[4]; /* "r-x" */
        const char *path;   /* NULL without a file; "[name]" for a part of the kernel */
        uint8_t build_id[EVENT_BUILD_ID_BYTES];
        size_t build_id_bytes; /* 0: the sink looks at the file */
};

struct event_sample {
        image_key image;
        uint32_t tid;
        int32_t cpu; /* -1: unknown */
        uint64_t ip;
        bool has_addr;
        uint64_t addr;
        int64_t stall_ns;                          /* 0: unknown */
        int64_t latency_cycles;                    /* -1: unknown */
        int64_t retire_latency_cycles;             /* -1: unknown */
        const struct data_source_row *data_source; /* db.h; NULL: not a memory sample */
        const uint64_t *frames;                    /* innermost first, frames[0] is ip */
        size_t depth;
        /* Index from 1 in FRAMES of the stack frame that contains addr; 0: unknown, or
         * not on the stack. */
        uint32_t stack_frame;
        /* If addr is on another thread's stack: the instruction of the frame that
         * contains addr, and the frame's callers; depth 0 if unknown. */
        const uint64_t *other_frames;
        size_t other_depth;
        /* In either frame: addr less the frame's canonical frame address. */
        int64_t cfa_offset_bytes;
        uint64_t thread_pointer; /* of the thread; 0: unknown */
        uint64_t phys_addr;      /* of addr; 0: unknown */
        int64_t page_bytes;      /* of addr's page; 0: unknown */
        int64_t few_sets;        /* of L1, that the load missed with others; 0: of many */
        uint64_t watch; /* the sample's number for sink_line_*, from 1; 0: it has none */
        /* For a page fault: the count of faults (0: not a page fault), their cycles in
         * the kernel, and the size of the new page in bytes. */
        int64_t faults;
        int64_t kernel_cycles;
        int64_t fault_page_bytes;
};

struct event_counter {
        const char *name; /* static: the sink compares by content */
        const char *unit;
        uint64_t value; /* gained since start_ns */
};

/* The sink. TIME_NS counts from the start of the run. Events of one image come in
 * program order; slightly unordered times are corrected (sink_processes.c). Each
 * function returns 0 or a negative errno value with a message in DIAG; the source then
 * stops. */
struct sink;
int sink_machine(struct sink *sink, const char *key, double value, const char *unit,
                 const char *origin, struct diag *diag);

/* The counter NAME, of UNIT, replaces the event STANDS_FOR. */
int sink_substitute(struct sink *sink, const char *name, const char *unit,
                    const char *stands_for, struct diag *diag);
int sink_process(struct sink *sink, int64_t time_ns, const struct event_process *event,
                 struct diag *diag);
/* PARENT forks now; the event of CHILD may come later. Stores the state that CHILD
 * inherits. Without this call CHILD inherits PARENT's state at the time of its event. */
int sink_fork(struct sink *sink, image_key parent, image_key child, struct diag *diag);
int sink_process_end(struct sink *sink, int64_t time_ns, image_key image,
                     struct diag *diag);
int sink_thread(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                const char *name, struct diag *diag);
/* Renames the thread from now on; the last name is stored. */
int sink_thread_name(struct sink *sink, image_key image, uint32_t tid, const char *name,
                     struct diag *diag);
int sink_thread_end(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                    struct diag *diag);
int sink_mapping(struct sink *sink, int64_t time_ns, const struct event_mapping *event,
                 struct diag *diag);
/* The stack of TID was in use down to STACK_POINTER. The anonymous mapping there becomes
 * the thread's stack if it was mapped without access rights or has a guard below it, as
 * C libraries make stacks. Blocks and heap mappings do not become stacks. */
int sink_stack_in_use(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                      uint64_t stack_pointer, struct diag *diag);
int sink_unmapping(struct sink *sink, int64_t time_ns, image_key image,
                   uint64_t start_addr, uint64_t length_bytes, struct diag *diag);
/* Ends blocks only: another mapping, which has a separate event, replaces them. */
int sink_replaced(struct sink *sink, int64_t time_ns, image_key image,
                  uint64_t start_addr, uint64_t length_bytes, struct diag *diag);
int sink_sample(struct sink *sink, int64_t time_ns, const struct event_sample *event,
                struct diag *diag);
/* The line of the sample with number WATCH in IMAGE has left L1 and L2, or the recording
 * ends: USED has a bit of each of its bytes that were accessed since the sample. */
int sink_line_use(struct sink *sink, image_key image, uint64_t watch, uint64_t used,
                  struct diag *diag);
/* A fully associative LRU cache of CACHE_BYTES behind L1 keeps that line until its next
 * request; 0: no request came. */
int sink_line_reuse(struct sink *sink, image_key image, uint64_t watch,
                    int64_t cache_bytes, struct diag *diag);
/* The counters of one thread over [start_ns, end_ns). */
int sink_counters(struct sink *sink, int64_t start_ns, int64_t end_ns, image_key image,
                  uint32_t tid, const struct event_counter *counters, size_t count,
                  struct diag *diag);
int sink_allocation(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                    const char *function, uint64_t addr, uint64_t size_bytes,
                    const uint64_t *frames, size_t depth, struct diag *diag);
/* Does the same in two calls, for sources that recognise a repeated stack: *STACK is its
 * identifier in IMAGE, 0 for a stack without frames. */
int sink_new_stack(struct sink *sink, image_key image, const uint64_t *frames,
                   size_t depth, int64_t *stack, struct diag *diag);
int sink_allocation_at(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                       const char *function, uint64_t addr, uint64_t size_bytes,
                       int64_t stack, struct diag *diag);
int sink_free(struct sink *sink, int64_t time_ns, image_key image, uint64_t addr,
              struct diag *diag);
/* TID resizes the block at ADDR. The block lives until sink_resized ends it, or until
 * another block begins at its address. A failed resize needs no further call. */
int sink_resize(struct sink *sink, image_key image, uint32_t tid, uint64_t addr,
                struct diag *diag);
int sink_resized(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                 uint64_t addr, struct diag *diag);
/* The image reached an instruction, the LENGTH bytes at IP, that the source cannot run.
 */
int sink_unhandled(struct sink *sink, image_key image, uint64_t ip, const uint8_t *bytes,
                   size_t length, struct diag *diag);
/* Processes of the command that live on when recording ends. */
#define LOSS_LEFT_RUNNING "processes left running"
/* Adds COUNT, which may be 0, to a loss in the ledger, for instance ("records lost", 12,
 * "records"). Reports count losses with the unit "records" as lost records. */
int sink_loss(struct sink *sink, const char *kind, uint64_t count, const char *unit,
              struct diag *diag);

/* The least latency that sources of real processors sample by default. */
enum { LDLAT_CYCLES_USUAL = 30 };

enum call_graph {
        CALL_GRAPH_NONE,
        CALL_GRAPH_AUTO, /* the cheapest method for the source */
        CALL_GRAPH_FRAME_POINTERS,
        CALL_GRAPH_DWARF
};

/* A sampled instruction that a simulated CPU executed. Counted by place, without a row.
 */
int sink_executed(struct sink *sink, image_key image, uint64_t ip, struct diag *diag);

/* A location in a mapped file, in the sink's terms. */
struct event_place {
        int64_t module_id;
        uint64_t file_offset_bytes;
};

/* Returns the file location of ADDR in IMAGE by its current mappings; false: not in a
 * file. */
bool sink_place(const struct sink *sink, image_key image, uint64_t addr,
                struct event_place *place);
/* Returns the path of a module; NULL: it is no file. */
const char *sink_module_path(const struct sink *sink, int64_t module_id);

struct simpmu_in_time;
struct simpmu_plan;

struct source_options {
        uint64_t interval_ns;
        uint64_t period_loads;
        uint64_t period_stores; /* with STORES, unless loads' samples include stores */
        uint64_t frequency_hz;  /* samples a second of each CPU; 0: by the period */
        uint32_t ldlat_cycles;  /* 0: the source's default, and afterwards: all */
        enum call_graph call_graph;
        bool heap;
        bool stores;     /* even if counters are lost for that */
        bool loads_only; /* neither stores nor page faults, where they are samples */
        bool phys_addr;  /* physical addresses of the data too */
        bool page_size;  /* sizes of the data's pages too */
        pid_t pid;       /* record a process that runs already; 0: the command */
        bool system_wide;
        const char *cpus;    /* CPUs to record on, such as "0-3,8"; NULL: no selection */
        size_t ring_pages;   /* of each CPU; 0: as many as may be locked */
        const char *sim_cpu; /* NULL: the source's default */
        const char *const *sim_set; /* "key=value", NULL-terminated */
        uint32_t sim_prefetch;      /* a bit for each active simpmu_prefetcher */
        bool sim_prefetch_given;    /* otherwise all are on */
        /* One slot of instructions and wrong predictions in so many is sampled, on
         * average (sink_executed; 0: none). */
        uint64_t sim_period_instructions;
        bool sim_caches_only; /* without data flow: nothing waits for values */
        bool sim_branches;    /* each is predicted; wrong paths and the front end */
        /* Instructions whose data arrives without delay, set by whatif. */
        const struct simpmu_in_time *sim_in_time;
        size_t sim_in_time_count;
        /* Objects that the model places elsewhere, likewise; NULL: none. */
        const struct simpmu_plan *sim_plan;
        size_t sim_plan_bytes;
        struct validated_counters validated;
};

struct source;

struct source_ops {
        const char *name;
        enum numbers numbers;
        /* One line: the meaning of a sample of this source. */
        const char *meaning;
        bool latency;         /* its samples have latencies, from a threshold on */
        bool only_on_request; /* `--source auto` never selects it */
        bool stores;          /* --stores is possible */
        bool pages;           /* --phys-data and --data-page-size are possible */
        /* Fills in the sampling period and latency threshold that the user left out. */
        void (*set_defaults)(struct source_options *options);
        /* 0, or a negative errno value with the reason and the remedy in DIAG. */
        int (*probe)(const struct source_options *options, struct diag *diag);
        int (*open)(const struct source_options *options, struct sink *sink,
                    struct source **source, struct diag *diag);
        /* Rewrites the command: the launcher then starts it under this source. Replaces
         * *ARGV and *ENVP by arrays that the source owns. */
        int (*start)(struct source *source, char ***argv, char ***envp,
                     struct diag *diag);
        /* The process TARGET waits to execute the command; 0: there is none. NULL: no
         * action needed. */
        int (*attach)(struct source *source, pid_t target, struct diag *diag);
        /* A descriptor that polls readable when there is something to drain. */
        int (*poll_fd)(struct source *source);
        /* Delivers pending events to the sink. */
        int (*drain)(struct source *source, struct diag *diag);
        /* Returns true if the command and all its descendants have ended; called after
         * the command's end. */
        bool (*all_ended)(struct source *source);
        /* Recording ends: delivers the rest, and counts surviving processes as
         * LOSS_LEFT_RUNNING. */
        int (*stop)(struct source *source, struct diag *diag);
        void (*close)(struct source *source);
};

extern const struct source_ops source_pebs;
extern const struct source_ops source_ibs;
extern const struct source_ops source_sim;
extern const struct source_ops source_clock;

#endif
