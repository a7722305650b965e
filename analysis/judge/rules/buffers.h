/* SPDX-License-Identifier: MIT */
/* While fill buffers are full, misses come at a rate of buffers / latency (Little's law).
 * Finds what would make a function's misses come soonest: more buffers, nearer DRAM or
 * nearer caches. Pure arithmetic; see doc/method.md. */
#ifndef MEMLAG_BUFFERS_H
#define MEMLAG_BUFFERS_H

#include "verdict.h"

/* Sums over a function's requests while buffers were full and DRAM had bandwidth left. */
struct buffer_use {
        int64_t samples;
        double held_cycles;    /* unloaded latencies: how long requests need a buffer */
        double latency_cycles; /* the same, and the wait for a buffer */
        double dram_cycles;    /* of held_cycles, saved if DRAM were as near as L3 */
        double cache_cycles;   /* saved if each cache were as near as the next nearer */
        double path_cycles;    /* held_cycles, times the used part of the path from L3 */
};

/* PATH_USE: of the path from L3 in the sample's interval; NAN: not known. */
void buffer_use_add(struct buffer_use *use, const struct sample_facts *sample,
                    const struct machine_facts *machine, double path_use);

/* CAUSE_IN_CORE, CAUSE_DRAM or CAUSE_CACHE, by whose removal saves most; CAUSE_NONE: too
 * few samples, or a latency of the machine is not known. */
enum cause buffer_use_cause(const struct buffer_use *use);

#endif
