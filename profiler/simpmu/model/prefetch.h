/* SPDX-License-Identifier: MIT */
/* Hardware prefetchers, off unless asked for (enum simpmu_prefetcher):
 *  - L1 next line: two neighbours of a page used in ascending order bring the next one;
 *  - L2 streamer: three or more lines of a page used in one direction bring lines ahead
 *    of them, up to two at a time and 20 ahead, never across the page;
 *  - L2 adjacent line: a miss of L2 brings the other line of its 128 bytes.
 * As the processor's manual describes them (Intel optimization reference manual, data
 * prefetching); there is no IP-stride prefetcher yet. A prefetch takes memory's
 * bandwidth and a place in the queue beyond L2, and is dropped when that is full. */
#ifndef SIMPMU_MODEL_PREFETCH_H
#define SIMPMU_MODEL_PREFETCH_H

#include "machine.h"

/* LINE is used for the first time since it is in L1, at NOW: it has been asked of L2, or
 * was brought by a prefetch. BEYOND_L2: it was not in L2 either. */
void prefetch_after(struct machine *machine, struct sim_hot *hot,
                    struct sim_thread *thread, uint64_t line, uint64_t now,
                    bool beyond_l2);

/* LINE is in L2: how long after NOW it is there, when a prefetch has asked for it, and
 * in LEVEL from where; 0 when it is there. */
uint64_t prefetch_wait(const struct core *core, uint64_t line, uint64_t now,
                       enum simpmu_level *level);

#endif
