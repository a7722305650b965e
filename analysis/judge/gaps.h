/* SPDX-License-Identifier: MIT */
/* Which verdicts a recording cannot give, because it lacks what they follow from. Pure
 * rules without a database. */
#ifndef MEMLAG_GAPS_H
#define MEMLAG_GAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "counters.h"

/* What a recording has. */
struct recorded {
        bool counted[CONCEPT_COUNT];
        bool memory_samples;
        bool levels;        /* samples tell where the data came from */
        bool latencies;     /* samples tell how long it took */
        bool tlb;           /* samples tell whether the TLB had the address */
        bool snoops;        /* samples tell of lines that other cores had modified */
        bool without_waits; /* of a model with caches only: times are not the program's */
};

enum { VERDICT_GAPS_MAX = 8 };

/* Puts one line for each such verdict into GAPS: "dram-contention: ... not counted".
 * Returns how many. Of a recording without memory samples there is one that says so. */
size_t verdict_gaps(const struct recorded *recorded, const char *gaps[VERDICT_GAPS_MAX]);

#endif
