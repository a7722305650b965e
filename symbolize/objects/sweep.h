/* SPDX-License-Identifier: MIT */
/* Maps addresses of a process at a time to places in files and blocks of memory, by the
 * mappings and blocks of that time. Other code names the places. Samples are read several
 * times and never kept; only the distinct places are kept. */
#ifndef MEMLAG_SYMBOLIZE_SWEEP_H
#define MEMLAG_SYMBOLIZE_SWEEP_H

#include "hash_index.h"
#include "samples.h"
#include "timeline.h"

/* Questions about a place's instruction. They take much more memory than a place. */
struct place_asks {
        struct access access; /* at a place of samples with an address */
        struct access call;   /* at a call through which blocks were allocated */
        /* at a call of the C library, from which samples have an address */
        struct access argument;
};

/* A distinct place in code. Without a module (RAW_NONE) the address is the process's. In
 * a module without known segments it is the file offset. */
struct place {
        struct code_place code;
        struct place_asks *asks; /* owned; NULL: nothing */
        uint32_t module;
        uint32_t process;          /* of a mapping without a module; else RAW_NONE */
        bool vdso;                 /* the kernel's code in the process */
        bool unlisted;             /* made at run time, and no list names it */
        bool mapped;               /* something was mapped there */
        bool in_image;             /* code.vaddr is the file's virtual address */
        bool accesses;             /* it has samples with an address */
        bool accesses_unaddressed; /* the same for samples without an address */
};

static inline const struct place_asks *place_asks(const struct place *place)
{
        static const struct place_asks nothing;

        return place->asks ? place->asks : &nothing;
}

enum target_kind {
        TARGET_NONE, /* the sample has no data address */
        TARGET_UNMAPPED,
        TARGET_BLOCK,    /* index: allocation */
        TARGET_STACK,    /* index: mapping */
        TARGET_VARIABLE, /* index: variable */
        TARGET_THREAD,   /* index: none; the thread's control block */
        TARGET_MAPPING   /* index: mapping */
};

/* The target of a sample's data address. */
struct target {
        enum target_kind kind;
        uint32_t index;
        uint64_t offset_bytes; /* in the target; of a variable, the address in its file */
};

/* Data of a loaded program or library. In a module with many addresses, one address
 * represents the others of its variable. */
struct variable {
        struct data_place data;
        uint32_t module;
        uint64_t key; /* the address, or the start of its part of the data */
};

/* A place in a frame of the call stack that contains samples' addresses. */
struct frame {
        struct access access;
        uint32_t place; /* of its instruction, or of its call of the next frame */
};

/* The first place of an address of a process. Mostly it is the only one. */
struct ip_place {
        uint64_t ip;
        uint32_t process;
        uint32_t place;
};

/* The location of a sample. */
struct sample_location {
        uint32_t place;
        bool usual;     /* PLACE is in sweep.ips.items for its address */
        uint32_t frame; /* that contains the address; RAW_NONE: none, or unknown */
        /* The code of that frame if the source gives it; else RAW_NONE. */
        uint32_t frame_place;
        uint32_t caller; /* place of its function's call; RAW_NONE: not known */
        struct target target;
};

/* The named parts of a module's data. */
struct module_data {
        uint32_t asked; /* variables so far */
        bool read;
        struct range_map parts;
};

/* Whether a stack's blocks are the thread-local memory of a file. */
struct thread_module {
        bool asked;
        uint32_t module; /* RAW_NONE: they are not */
};

/* A process at the present time of a pass. */
struct process_past {
        struct timeline timeline;
        uint32_t state;   /* unique number of this process and its present mappings */
        uint32_t changes; /* of the mappings, when STATE was given */
        size_t next_date; /* of its dated stacks */
};

/* The time of the first block allocated at a stack node. The mappings of that time give
 * its place, unless an earlier sample does. */
struct stack_date {
        int64_t time_ns;
        uint32_t process;
        uint32_t stack;
};

struct sweep {
        const struct raw *raw;
        const struct debug_search *search;
        struct samples samples;
        HASHED(struct place) places;

        uint64_t *place_samples; /* samples of each place */
        size_t count_capacity;
        HASHED(struct ip_place) ips;

        uint64_t
            unusual_samples; /* samples that are not at their address's place in IPS */
        struct known_place *known; /* of place.c */
        uint32_t states;           /* given so far */
        HASHED(struct variable) variables;

        HASHED(struct frame) frames;

        uint64_t *stack_samples;    /* of raw's stacks, after the samples were read */
        uint64_t sample_count;      /* all */
        uint64_t stackless_samples; /* samples without a stack */
        uint32_t *stack_places; /* of raw's stacks; RAW_NONE: not asked, or no process */
        bool *calls;            /* of raw's stacks: its ip is a return address */
        uint32_t *code_places;  /* of raw's codes; RAW_NONE: not asked */
        uint32_t *clock_places; /* of raw's clocks */
        struct thread_module *thread_modules; /* of raw's stacks */
        struct module_data *module_data;      /* of raw's modules */
        struct stack_date *dates;             /* by process and time */
        size_t date_count;
        size_t *first_date;         /* of each process in DATES */
        struct process_past *pasts; /* of raw's processes */
};

/* The action for each sample. 0 or a negative errno value, which ends the pass. */
typedef int sample_visit(void *context, const struct raw_sample *sample,
                         const struct sample_location *location);

/* Opens a sweep for the samples of DB and RAW, whose modules are checked. SEARCH has the
 * directories of debug files. 0 or a negative errno value, as all; the caller frees SWEEP
 * in any case. */
int sweep_open(struct sweep *sweep, const struct raw *raw,
               const struct debug_search *search, struct db *db, struct diag *diag);

/* Finds the places of all samples, in time order, then of all stacks and packed nodes. */
int sweep_run(struct sweep *sweep, struct diag *diag);

/* Visits all samples, in time order. -ESTALE, only before the end of sweep_run(): the
 * samples are not stored in time order, and the caller must begin again with the
 * first. */
int sweep_samples(struct sweep *sweep, sample_visit *visit, void *context,
                  struct diag *diag);

/* Gives the stacks of blocks and their callers the time of the first block. Marks nodes
 * with children as calls. 0 or -ENOMEM. */
int pass_date_stacks(struct sweep *sweep);
/* After the last sample: looks up the stacks without samples. A stack with an allocated
 * block uses the mappings of the block's time. Other stacks (of blocks without samples)
 * use all mappings of all times, the latest first. */
int pass_ask_other_stacks(struct sweep *sweep);
/* Frees SWEEP's knowledge of its processes at the current time. */
void pass_forget(struct sweep *sweep);

/* The variable on the stack that a sample accessed. Several variables of different types
 * count as one without a type. The address's frame gives it, else the instruction's
 * operand; *PLACE is the place of the code that does. NULL: not known. */
const struct flow_answer *sweep_frame_answer(const struct sweep *sweep,
                                             const struct sample_location *location,
                                             uint32_t *place);
/* The code whose frame a sample on the stack accessed, from the source or the operand of
 * the sample's instruction. RAW_NONE: not known. */
uint32_t sweep_frame_place(const struct sweep *sweep,
                           const struct sample_location *location);
/* The thread-local variable that a sample's instruction names, if the address does not
 * determine it; NULL: none. */
const struct flow_answer *sweep_thread_answer(const struct sweep *sweep,
                                              const struct sample_location *location);
void sweep_free(struct sweep *sweep);

#endif
