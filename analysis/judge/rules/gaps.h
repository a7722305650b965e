/* SPDX-License-Identifier: MIT */
/* Finds the verdicts that a recording cannot give, because it lacks their inputs. Pure
 * rules without a database. */
#ifndef MEMLAG_GAPS_H
#define MEMLAG_GAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "counters.h"

/* The contents of a recording. */
struct recorded {
        bool counted[CONCEPT_COUNT];
        bool memory_samples;
        bool levels;        /* samples have a cache level */
        bool latencies;     /* samples have a latency */
        bool tlb;           /* samples have a TLB result */
        bool snoops;        /* samples have HITM information */
        bool without_waits; /* from a model of caches only: times are not the program's */
};

enum { VERDICT_GAPS_MAX = 8 };

/* Puts one line for each such verdict into GAPS: "dram-contention: ... not counted".
 * Returns the number of lines. A recording without memory samples gives a single line. */
size_t verdict_gaps(const struct recorded *recorded, const char *gaps[VERDICT_GAPS_MAX]);

#endif
