/* SPDX-License-Identifier: MIT */
/* Hardware prefetchers, off by default (enum simpmu_prefetcher):
 *  - L1 next line: two adjacent lines of a page used in ascending order bring the next
 *    one;
 *  - L1 IP stride: a load instruction that has repeated a distance of at most 2 KiB
 *    brings the line at that distance ahead in the page. Distances within a line reach
 *    the model as whole-line strides;
 *  - L2 streamer: three or more lines of a page used in one direction bring lines
 *    ahead of them. It brings up to two lines at a time, at most prefetch.stream_lines
 *    ahead. It crosses the page's end only with prefetch.next_page. Lines between the
 *    ends may come in any order, as loads execute in any order;
 *  - L2 adjacent line: a miss of L2 brings the other line of its 128 bytes. The
 *    processor's manual describes them (Intel optimization reference manual, data
 *    prefetching). A prefetch uses memory bandwidth and a place in the queue beyond
 *    L2. It is dropped when the queue is full; the streamer tries again at its next
 *    access. */
#ifndef SIMPMU_MODEL_PREFETCH_H
#define SIMPMU_MODEL_PREFETCH_H

#include "machine.h"
#include "prefetch_instruction.h"

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

/* A software prefetch of ADDRESS at SITE. For the window it is complete when it has
 * its translation and a fill buffer. It waits for both, unlike a hardware prefetch. A
 * prefetch into L2 is dropped when the queue is full. A prefetch of the null page, at
 * the end of a list, is dropped, too. */
void prefetch_instruction(struct machine *machine, struct sim_hot *hot,
                          struct sim_thread *thread, const struct access_site *site,
                          enum prefetch_into into, uint64_t address);

/* The time after NOW at which LINE, which is in L2, arrives there if it is a prefetch
 * in flight; LEVEL is its source. 0: it has arrived. */
uint64_t prefetch_wait(const struct core *core, uint64_t line, uint64_t now,
                       enum simpmu_level *level);

#endif
