/* SPDX-License-Identifier: MIT */
/* Kernels with known behaviour: their memory accesses are documented exactly, to measure
 * machines and check counters. A kernel knows its data and loop, but no threads, clocks
 * or output. */
#ifndef MEMLAG_KERNEL_H
#define MEMLAG_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "diag.h"

enum { KERNEL_LINE_BYTES = 64, KERNEL_CHASES = 8 };

/* Prevents inlining: the loop can be inspected in the machine code, and profiles name it.
 */
#define KERNEL_LOOP __attribute__((noinline))

/* Parameters of a kernel besides threads and passes, as bits of kernel.takes. */
enum {
        TAKES_SIZE = 1 << 0,
        TAKES_DELAY = 1 << 1,
        TAKES_STRIDE = 1 << 2,
        TAKES_ORDER = 1 << 3, /* with block_bytes */
        TAKES_MULTIPLICATIONS = 1 << 4,
        TAKES_WIDTH = 1 << 5,
        TAKES_PAGES = 1 << 6,
        TAKES_PATTERN = 1 << 7
};

/* Branch patterns over time: B20's kernels, and an alternating one. */
enum branch_pattern {
        BRANCH_NONE, /* only the loop's own branch, which all patterns have */
        BRANCH_NEVER,
        BRANCH_ALWAYS,
        BRANCH_HALVES, /* not taken in the first half of a pass, then always */
        BRANCH_ALTERNATING,
        BRANCH_JUMP,   /* never taken, followed by an unconditional jump */
        BRANCH_RANDOM, /* random; later instructions wait for it */
        BRANCH_RANDOM_NEVER, /* followed by another branch if not taken */
        BRANCH_RANDOM_ALWAYS,
        BRANCH_WRONG_PATH, /* like the three above, without waiting */
        BRANCH_WRONG_PATH_NEVER, /* across one branch */
        BRANCH_WRONG_PATH_ALWAYS
};

struct kernel_parameters {
        uint64_t size_bytes; /* data of all threads together */
        uint64_t passes;     /* over the data; each thread covers its own part */
        uint32_t windows; /* For sequential kernels: each round covers one of so many
                           * equal parts of the data in turn; 0: all data */
        uint32_t threads;
        uint32_t delay_nops;
        uint32_t stride_bytes;
        bool sequential;
        uint64_t block_bytes; /* random order within such blocks; 0: within all data */
        uint32_t independent_multiplications;
        uint32_t dependent_multiplications;
        uint32_t width_bits;
        enum buffer_pages pages;
        int node; /* NUMA node of the data; -1: each thread's own node */
        enum branch_pattern pattern;
};

/* Counts of one pass of all threads, by construction. Lines: traffic with memory, if the
 * data is far larger than the caches and no prefetch is useless. A written line is read
 * first, except by non-temporal stores. Loads and stores are instructions. */
struct kernel_counts {
        uint64_t accesses; /* by one thread: the unit of the time per access */
        uint64_t bytes;    /* useful bytes, for GB/s */
        uint64_t loads;
        uint64_t stores;
        uint64_t lines_read;
        uint64_t lines_written;
        uint64_t flops;
        uint64_t instructions; /* in the loop; 0: not known */
        bool tells_branches;   /* false: the branch counts below are unknown */
        /* Conditional branches; averages for random patterns. */
        uint64_t branches; /* retired */
        uint64_t branches_taken;
        uint64_t branches_mispredicted;
        uint64_t branches_executed; /* with branches on wrong paths */
        uint64_t jumps;             /* unconditional direct jumps */
};

/* One thread's part of a kernel. */
struct kernel_share {
        const struct kernel_parameters *parameters;
        uint32_t thread;
        void *common;         /* common_bytes shared by all threads, initially zero */
        struct buffer buffer; /* the thread's own data */
        void *position;       /* start of the next pass, for kernels that continue */
        double sum;           /* a result that prevents dead-code elimination */
        void *positions[KERNEL_CHASES]; /* of chases at the same time, far apart */
};

struct kernel {
        const char *name;
        const char *summary;
        unsigned takes;
        struct kernel_parameters defaults;
        uint64_t common_bytes;
        /* Returns 0, or -EINVAL with the impossible parameter in DIAG. NULL: no check. */
        int (*check)(const struct kernel_parameters *parameters, struct diag *diag);
        /* Allocates and touches the thread's data; called in the thread. */
        int (*prepare)(struct kernel_share *share, struct diag *diag);
        /* Flushes the data from the caches; called before each pass, not timed. */
        void (*flush)(struct kernel_share *share);
        void (*run)(struct kernel_share *share, uint64_t passes);
        void (*count)(const struct kernel_parameters *parameters,
                      struct kernel_counts *counts);
};

/* All kernels; the last has no name. */
extern const struct kernel *const kernels[];

/* The kernel called NAME, or NULL. */
const struct kernel *kernel_find(const char *name);

/* The bytes of one thread's data. */
static inline uint64_t kernel_part_bytes(const struct kernel_parameters *parameters)
{
        return parameters->size_bytes / parameters->threads;
}

/* The bytes of one window of a thread: whole pages, plus one page for kernels that round
 * down. */
static inline uint64_t kernel_window_bytes(const struct kernel_parameters *parameters)
{
        enum { PAGE_BYTES = 4096 };
        uint64_t pages = kernel_part_bytes(parameters) / PAGE_BYTES;
        return pages == 0 ? 0 : (pages - 1) / parameters->windows * PAGE_BYTES;
}

/* Executes STEPS loads of the chase, from its current position. */
void chase_steps(struct kernel_share *share, uint64_t steps);

/* The same by KERNEL_CHASES overlapping chases, each from its own position. */
void chase_overlapping_steps(struct kernel_share *share, uint64_t steps);

extern const struct kernel kernel_chase, kernel_pairs, kernel_tlb;
extern const struct kernel kernel_memread;
extern const struct kernel kernel_copy, kernel_scale, kernel_add, kernel_triad;
extern const struct kernel kernel_load, kernel_store, kernel_nontemporal;
extern const struct kernel kernel_gather;
extern const struct kernel kernel_ddot, kernel_dgemv, kernel_dgemm;
extern const struct kernel kernel_false_sharing, kernel_true_sharing;
extern const struct kernel kernel_branch, kernel_icode;

#endif
