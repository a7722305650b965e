/* SPDX-License-Identifier: MIT */
/* What a counter means, whatever the CPU calls it. */
#ifndef MEMLAG_COUNTERS_H
#define MEMLAG_COUNTERS_H

/* The concepts that the interval metrics are made of (doc/method.md). */
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
        CONCEPT_STALLS_L1D,    /* cycles without execution beside a waiting L1D miss */
        CONCEPT_STORE_BUFFER,  /* cycles stalled because the store buffer was full */
        CONCEPT_STALLS,        /* cycles without execution */
        CONCEPT_STALLS_L2,     /* of these, beside a load that missed L2 */
        CONCEPT_STALLS_L3,     /* of these, beside a load that missed the last cache */
        CONCEPT_LOADS,         /* retired, from wherever they came */
        CONCEPT_SPLIT_LOADS,   /* retired, across a line border */
        CONCEPT_ALIASED_LOADS, /* with a store to another page */
        CONCEPT_PAGE_FAULTS,
        CONCEPT_KERNEL_FAULT, /* cycles in the kernel for page faults, */
        CONCEPT_KERNEL_CALL,  /* and for system calls; both are unhalted ones */
        CONCEPT_OFFCORE,      /* lines asked for beyond L2, prefetches included */
        CONCEPT_COUNT,
        CONCEPT_NONE = CONCEPT_COUNT
};

/* The concept that the event NAME (any case) counts, or CONCEPT_NONE. */
enum concept counter_concept(const char *name);

#endif
