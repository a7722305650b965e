/* SPDX-License-Identifier: MIT */
/* Hardware prefetchers, off unless asked for (enum simpmu_prefetcher):
 *  - L1 next line: two neighbours of a page used in ascending order bring the next one;
 *  - L1 IP stride: a load instruction that has gone on by the same distance twice, of at
 *    most 2 KiB, brings the line that lies as far ahead in the page. Distances within a
 *    line reach the model as steps from line to line;
 *  - L2 streamer: three or more lines of a page used in one direction bring lines ahead
 *    of them, up to two at a time and prefetch.stream_lines ahead; across the page's end
 *    with prefetch.next_page, and not without. Between them lines may come in any order,
 *    as loads execute in any;
 *  - L2 adjacent line: a miss of L2 brings the other line of its 128 bytes.
 * As the processor's manual describes them (Intel optimization reference manual, data
 * prefetching). A prefetch takes memory's bandwidth and a place in the queue beyond L2,
 * and is dropped when that is full; the streamer tries again at its next step. */
#ifndef SIMPMU_MODEL_PREFETCH_H
#define SIMPMU_MODEL_PREFETCH_H

#include "../prefetch_instruction.h"
#include "machine.h"

/* The first use of a line since it is in L1: it has been asked of L2, or was brought by
 * a prefetch. */
struct first_use {
        uint64_t line;
        uint64_t now;
        uint64_t load_ip; /* 0: of a store */
        uint64_t address; /* that is loaded */
        bool beyond_l2;   /* it was not in L2 either */
};

void prefetch_after(struct machine *machine, struct sim_hot *hot,
                    struct sim_thread *thread, const struct first_use *use);

/* A software prefetch of ADDRESS at SITE. It is complete, for the window, when it has its
 * translation and a fill buffer, for which it waits, unlike a prefetcher; one into L2 is
 * dropped like a prefetcher's, and one of the null page, where lists end. */
void prefetch_instruction(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct access_site *site,
                          enum prefetch_into into, uint64_t address);

/* LINE is in L2: how long after NOW it is there, when a prefetch has asked for it, and
 * in LEVEL from where; 0 when it is there. */
uint64_t prefetch_wait(const struct core *core, uint64_t line, uint64_t now,
                       enum simpmu_level *level);

#endif
