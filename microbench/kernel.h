/* SPDX-License-Identifier: MIT */
/* Kernels with known behaviour: what each does to memory is documented exactly, so that
 * a machine can be measured with them and a counter checked against them. A kernel knows
 * its own data and loop, and nothing of threads, clocks or output. */
#ifndef MEMLAG_KERNEL_H
#define MEMLAG_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "diag.h"

enum { KERNEL_LINE_BYTES = 64 };

/* A kernel's loop stands by itself in the machine code, where it can be checked and where
 * a profile names it. */
#define KERNEL_LOOP __attribute__((noinline))

/* The parameters a kernel has besides threads and passes, as bits of kernel.takes. */
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

/* How branches go, time after time: B20's kernels, and one that alternates. */
enum branch_pattern {
        BRANCH_NONE, /* but a loop's own, which the others have too */
        BRANCH_NEVER,
        BRANCH_ALWAYS,
        BRANCH_HALVES, /* not in the first half of a pass, and then always */
        BRANCH_ALTERNATING,
        BRANCH_JUMP,   /* never, and an unconditional one behind it */
        BRANCH_RANDOM, /* what follows waits until it is known, as in the next two, */
        BRANCH_RANDOM_NEVER, /* where another one follows if it is not taken */
        BRANCH_RANDOM_ALWAYS,
        BRANCH_WRONG_PATH, /* the same three, but that the core goes on as predicted, */
        BRANCH_WRONG_PATH_NEVER, /* over one branch */
        BRANCH_WRONG_PATH_ALWAYS
};

struct kernel_parameters {
        uint64_t size_bytes; /* of the data of all threads together */
        uint64_t passes;     /* over the data, by each thread over its own part */
        uint32_t windows; /* rounds each go over one of so many equal parts of the data,
                             one after the other, of a kernel that goes straight
                             through it; 0: over all of it */
        uint32_t threads;
        uint32_t delay_nops;
        uint32_t stride_bytes;
        bool sequential;
        uint64_t block_bytes; /* order is random within blocks of it; 0: over all */
        uint32_t independent_multiplications;
        uint32_t dependent_multiplications;
        uint32_t width_bits;
        enum buffer_pages pages;
        int node; /* of NUMA, for the data; -1: each thread's own */
        enum branch_pattern pattern;
};

/* What one pass of all threads does, by construction. Lines are those that move to and
 * from memory when the data is far larger than the caches and nothing is prefetched in
 * vain; a line that is written is read first. Loads and stores are instructions. */
struct kernel_counts {
        uint64_t accesses; /* that one thread makes, the unit of the time per access */
        uint64_t bytes;    /* that the kernel means to move: the GB/s */
        uint64_t loads;
        uint64_t stores;
        uint64_t lines_read;
        uint64_t lines_written;
        uint64_t flops;
        uint64_t instructions; /* of the loop; 0: not told */
        bool tells_branches;   /* otherwise nothing is known of what follows */
        /* Conditional ones. At random: on average. */
        uint64_t branches; /* that retire */
        uint64_t branches_taken;
        uint64_t branches_mispredicted;
        uint64_t branches_executed; /* those on wrong paths too */
        uint64_t jumps;             /* unconditional ones that go straight to a place */
};

/* One thread's part of a kernel. */
struct kernel_share {
        const struct kernel_parameters *parameters;
        uint32_t thread;
        void *common;         /* common_bytes that all threads see, zero at first */
        struct buffer buffer; /* the thread's own data */
        void *position;       /* where the next pass begins, for kernels that go on */
        double sum;           /* a result, so that no computation is idle */
};

struct kernel {
        const char *name;
        const char *summary;
        unsigned takes;
        struct kernel_parameters defaults;
        uint64_t common_bytes;
        /* 0, or -EINVAL with what cannot be in DIAG. NULL: all is well. */
        int (*check)(const struct kernel_parameters *parameters, struct diag *diag);
        /* Makes and touches the thread's data; called in that thread. */
        int (*prepare)(struct kernel_share *share, struct diag *diag);
        /* Takes the data out of the caches; called before each pass, untimed. */
        void (*flush)(struct kernel_share *share);
        void (*run)(struct kernel_share *share, uint64_t passes);
        void (*count)(const struct kernel_parameters *parameters,
                      struct kernel_counts *counts);
};

/* All kernels, ended by one without a name. */
extern const struct kernel *const kernels[];

/* NULL: there is none of that NAME. */
const struct kernel *kernel_find(const char *name);

/* The bytes of one thread's part. */
static inline uint64_t kernel_part_bytes(const struct kernel_parameters *parameters)
{
        return parameters->size_bytes / parameters->threads;
}

/* Those of one of its windows: whole pages, and one to spare for what a kernel rounds
 * down. */
static inline uint64_t kernel_window_bytes(const struct kernel_parameters *parameters)
{
        enum { PAGE_BYTES = 4096 };
        uint64_t pages = kernel_part_bytes(parameters) / PAGE_BYTES;
        return pages == 0 ? 0 : (pages - 1) / parameters->windows * PAGE_BYTES;
}

/* STEPS loads of the chase, from where the last ones ended. */
void chase_steps(struct kernel_share *share, uint64_t steps);

extern const struct kernel kernel_chase, kernel_pairs, kernel_tlb;
extern const struct kernel kernel_memread;
extern const struct kernel kernel_copy, kernel_scale, kernel_add, kernel_triad;
extern const struct kernel kernel_load, kernel_store;
extern const struct kernel kernel_gather;
extern const struct kernel kernel_ddot, kernel_dgemv, kernel_dgemm;
extern const struct kernel kernel_false_sharing, kernel_true_sharing;
extern const struct kernel kernel_branch, kernel_icode;

#endif
