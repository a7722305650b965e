/* SPDX-License-Identifier: MIT */
/* The meaning of a counter, independent of its name on a CPU. */
#ifndef MEMLAG_COUNTERS_H
#define MEMLAG_COUNTERS_H

/* The inputs of the interval metrics (doc/method.md). */
enum concept {
        CONCEPT_CYCLES,        /* unhalted core cycles */
        CONCEPT_INSTRUCTIONS,  /* retired */
        CONCEPT_PENDING,       /* alpha: L1D misses outstanding, summed over cycles */
        CONCEPT_L1_MISS,       /* beta: retired loads that missed L1D */
        CONCEPT_FB_HIT,        /* gamma: retired loads that hit a fill buffer */
        CONCEPT_L1_MISS_ANY,   /* beta + gamma in one event */
        CONCEPT_FB_FULL,       /* cycles a demand request waited for a fill buffer */
        CONCEPT_DRAM_READ,     /* bytes */
        CONCEPT_DRAM_WRITE,    /* bytes */
        CONCEPT_SQ_FULL,       /* cycles the queue from L2 to L3 was full */
        CONCEPT_STALLS_L1D,    /* cycles without execution during an L1D load miss */
        CONCEPT_STORE_BUFFER,  /* cycles stalled because the store buffer was full */
        CONCEPT_STALLS,        /* cycles without execution */
        CONCEPT_STALLS_L2,     /* part of CONCEPT_STALLS during an L2 load miss */
        CONCEPT_STALLS_L3,     /* part of CONCEPT_STALLS during a last-level load miss */
        CONCEPT_LOADS,         /* retired, served by any level */
        CONCEPT_SPLIT_LOADS,   /* retired, crossing a line boundary */
        CONCEPT_ALIASED_LOADS, /* false dependence on a store to another page */
        CONCEPT_PAGE_FAULTS,
        CONCEPT_KERNEL_FAULT, /* unhalted cycles in the kernel for page faults */
        CONCEPT_KERNEL_CALL,  /* unhalted cycles in the kernel for system calls */
        CONCEPT_OFFCORE,      /* lines requested beyond L2, with prefetches */
        CONCEPT_MISPREDICTED, /* retired branches that were predicted wrongly */
        CONCEPT_COUNT,
        CONCEPT_NONE = CONCEPT_COUNT
};

/* The concept that the event NAME (any case) counts, or CONCEPT_NONE. */
enum concept counter_concept(const char *name);

#endif
