/* SPDX-License-Identifier: MIT */
/* Counts each latency in each group, and computes percentiles. Memory grows with the
 * number of distinct latencies, not of samples. */
#ifndef MEMLAG_LATENCIES_H
#define MEMLAG_LATENCIES_H

#include <stddef.h>
#include <stdint.h>

enum { LATENCY_RUN = 16 };

/* A range of latencies of one group. Latencies from 4096 cycles share a code if their
 * first 12 bits are equal. */
struct latency_run {
        uint32_t group;
        uint32_t first; /* code; a multiple of LATENCY_RUN */
        uint32_t samples[LATENCY_RUN];
};

/* Zero-initialised: empty. */
struct latencies {
        struct latency_run *runs;
        size_t count;
        size_t capacity;
        uint32_t *slots; /* index into runs plus 1; 0: free */
        size_t slot_count;
        uint64_t multiplier; /* see scatter.h */
};

/* Adds a sample of GROUP that took CYCLES, 0 or more. 0 or -ENOMEM. */
int latencies_add(struct latencies *latencies, uint32_t group, int64_t cycles);

/* RESULT gets the PERCENT-th percentile (1 to 100, nearest rank) of each of GROUP_COUNT
 * groups; NAN for empty groups. GROUP_OF maps the groups of LATENCIES to the result's
 * groups; NULL: the identity. Returns 0 or -ENOMEM. */
int latencies_percentile(const struct latencies *latencies, const uint32_t *group_of,
                         size_t group_count, unsigned percent, double *result);

void latencies_free(struct latencies *latencies);

#endif
