/* SPDX-License-Identifier: MIT */
/* Trials of counters: kernels with known true counts, and the expected count of each
 * event per pass (M17, B20). Pure. */
#ifndef MEMLAG_TRIAL_H
#define MEMLAG_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

/* The meanings of events. Lines have 64 bytes; times are in cycles. X(symbol, name,
 * meaning). */
#define CONCEPTS(X)                                                                      \
        X(INSTRUCTIONS, "instructions", "retired instructions")                          \
        X(LOADS, "loads", "retired loads")                                               \
        X(STORES, "stores", "retired stores")                                            \
        X(L1_MISS, "l1-miss", "retired loads that missed L1D and hit no fill buffer")    \
        X(FB_HIT, "fb-hit", "retired loads that hit a fill buffer")                      \
        X(L1_MISS_ANY, "l1-miss-any", "retired loads that missed L1D, both kinds")       \
        X(DRAM_READ, "dram-read", "lines read from DRAM, for whatever reason")           \
        X(DRAM_WRITE, "dram-write", "lines written to DRAM")                             \
        X(DEMAND_READ, "demand-read", "of the lines from DRAM, those that loads need")   \
        X(DEMAND_RFO, "demand-rfo", "of the lines from DRAM, those that stores need")    \
        X(PENDING, "pending", "L1D misses outstanding, summed over cycles")              \
        X(FB_FULL, "fb-full", "cycles in which a request waited for a fill buffer")      \
        X(SQ_FULL, "sq-full", "cycles in which the queue beyond L2 was full")            \
        X(STALLS, "stalls", "cycles without execution")                                  \
        X(MEMORY_STALLS, "memory-stalls",                                                \
          "of these, those with an L1D miss outstanding")                                \
        X(L2_MISS_STALLS, "l2-miss-stalls", "of these, those with an L2 miss too")       \
        X(L3_MISS_STALLS, "l3-miss-stalls", "of these, those with an L3 miss too")       \
        X(STORE_STALLS, "store-stalls", "cycles in which the store buffer was full")

enum concept {
#define CONCEPT_ENUM(symbol, name, meaning) CONCEPT_##symbol,
        CONCEPTS(CONCEPT_ENUM)
#undef CONCEPT_ENUM
            CONCEPT_COUNT
};

const char *concept_name(enum concept concept);

enum trial_id {
        TRIAL_L1,          /* a chase in half of L1 */
        TRIAL_L2,          /* in half of L2, more than L1 */
        TRIAL_L3,          /* in half of L3, more than L2 */
        TRIAL_MEMORY,      /* larger than all caches, also in all later trials */
        TRIAL_INDEPENDENT, /* with 24 multiplications beside each load (M17) */
        TRIAL_DEPENDENT,   /* with 24 multiplications in the chain */
        TRIAL_PAIRS,
        TRIAL_SEQUENTIAL, /* a chase from line to line */
        TRIAL_LOAD,       /* eight loads per line */
        TRIAL_MEMREAD,
        TRIAL_STORE,
        TRIAL_TRIAD,
        TRIAL_COUNT
};

/* Data sizes of the trials. */
struct trial_sizes {
        uint64_t l1_bytes, l2_bytes; /* sizes of the caches */
        uint64_t l3_bytes;           /* 0: no chase fits between L2 and memory */
        uint64_t memory_bytes;       /* far larger than any cache */
};

struct trial {
        enum trial_id id;
        const char *name;
        const struct kernel *kernel;
        struct kernel_parameters parameters; /* for one thread and one pass */
        struct kernel_counts counts;
        bool prefetchable; /* a prefetcher can predict the lines */
};

struct trial trial_of(enum trial_id id, const struct trial_sizes *sizes);

/* The range of an event's count per pass; both NAN: unknown. SCALE: the reference for an
 * error if zero is expected. */
struct expectation {
        double low, high;
        double scale;
};

/* CYCLES: the time of the pass. PLAIN_CYCLES: the time of a load in TRIAL_MEMORY; NAN:
 * not measured. */
struct expectation trial_expects(const struct trial *trial, enum concept concept,
                                 double cycles, double plain_cycles);

/* Enough passes to hide the overhead of start and end. */
uint64_t trial_passes(const struct trial *trial);

/* Whether the trial has an expectation for the concept. */
bool trial_tells(const struct trial *trial, enum concept concept);

#endif
