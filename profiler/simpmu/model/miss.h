/* SPDX-License-Identifier: MIT */
/* What happens beyond L1: the way of a missing line through L2, L3 and memory, the
 * fill buffer that waits for it, and what other cores must give up. */
#ifndef SIMPMU_MODEL_MISS_H
#define SIMPMU_MODEL_MISS_H

#include "machine.h"

struct miss {
        uint64_t completion; /* when the line is in L1 */
        enum simpmu_level level;
};

/* The thread's clock stands at NOW; LINE has missed L1 and its request can start at
 * START. The time in a fill buffer
 * counts as pending for loads only: the event counts buffers that demand reads
 * require, a store's from the moment that a load hits it. */
struct miss miss_fill(struct machine *machine, struct sim_thread *thread, uint64_t line,
                      uint64_t start, uint64_t now, enum access_kind kind);

/* The dirty LINE leaves L1 at NOW. */
void miss_write_back(struct machine *machine, struct sim_thread *thread, uint64_t line,
                     uint64_t now);

/* At NOW the thread's core writes LINE, which it has clean: other cores lose theirs. */
void miss_take_ownership(struct machine *machine, struct sim_thread *thread,
                         uint64_t line, uint64_t now);

#endif
