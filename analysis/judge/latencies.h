/* SPDX-License-Identifier: MIT */
/* How often each latency occurred in each group, and percentiles of them. Memory grows
 * with the distinct latencies of the groups, not with the samples. */
#ifndef MEMLAG_LATENCIES_H
#define MEMLAG_LATENCIES_H

#include <stddef.h>
#include <stdint.h>

enum { LATENCY_RUN = 16 };

/* Neighbouring latencies of one group. Latencies of 4096 cycles and more share a code
 * with those that agree in their first 12 bits. */
struct latency_run {
        uint32_t group;
        uint32_t first; /* code; a multiple of LATENCY_RUN */
        uint32_t samples[LATENCY_RUN];
};

/* All zero is an empty one. */
struct latencies {
        struct latency_run *runs;
        size_t count;
        size_t capacity;
        uint32_t *slots; /* index into runs plus 1; 0: free */
        size_t slot_count;
        uint64_t multiplier; /* of scatter.h */
};

/* Adds a sample of GROUP that took CYCLES, 0 or more. 0 or -ENOMEM. */
int latencies_add(struct latencies *latencies, uint32_t group, int64_t cycles);

/* The PERCENT-th percentile (1 to 100), by nearest rank, of each of GROUP_COUNT groups in
 * RESULT; NAN for empty ones. GROUP_OF gives the number of the group that each of
 * LATENCIES' groups is a part of; NULL: each is itself. 0 or -ENOMEM. */
int latencies_percentile(const struct latencies *latencies, const uint32_t *group_of,
                         size_t group_count, unsigned percent, double *result);

void latencies_free(struct latencies *latencies);

#endif
