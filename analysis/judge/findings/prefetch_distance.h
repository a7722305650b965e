/* SPDX-License-Identifier: MIT */
/* How many iterations ahead a prefetch instruction must be to arrive in time. */
#ifndef MEMLAG_PREFETCH_DISTANCE_H
#define MEMLAG_PREFETCH_DISTANCE_H

#include "contention.h"
#include "db.h"

struct findings_pass;

/* Samples of one instruction that requested a cache line beyond L1. */
struct requests {
        int64_t samples;
        double latency_cycles; /* sum */
};

/* Whether code can compute addresses of PATTERN (access_pattern) some iterations ahead.
 */
bool prefetch_is_possible(const char *pattern);

/* The iterations in which an access of LATENCY_CYCLES ends, by Mowry, Lam, Gupta ("Design
 * and Evaluation of a Compiler Algorithm for Prefetching", ASPLOS 1992): the latency over
 * the shortest time of an iteration, rounded up. No iteration of INSTRUCTIONS is shorter
 * than MACHINE's issue width allows. At most half of L1's lines: farther prefetches push
 * each other out. 0: not known. */
int64_t prefetch_distance(double latency_cycles, int64_t instructions,
                          const struct machine_facts *machine);

/* Fills the empty table prefetch_finding. */
int prefetch_store(struct db *db, struct findings_pass *pass, struct diag *diag);

#endif
