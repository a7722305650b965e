/* SPDX-License-Identifier: MIT */
/* Non-temporal stores: the first one to a line opens a buffer that gathers the line,
 * and takes the line from all caches. The line goes to memory without being read. It
 * occupies a fill buffer for dram.nontemporal_ns (Intel optimization reference manual,
 * "Non-temporal store bus traffic"). Without a free fill buffer the store waits in the
 * store buffer, with all stores behind it.
 *
 * A line leaves when all its bytes are written. It leaves earlier at fences, or when
 * more lines are open than there are fill buffers, the oldest first. Memory then reads
 * the line to write a part, as memory with error correction must.
 *
 * Simplified: a line leaves for memory when it is opened. A load does not close its
 * line. */
#ifndef SIMPMU_MODEL_COMBINING_H
#define SIMPMU_MODEL_COMBINING_H

#include "machine.h"

/* SITE stores to ADDRESS. */
void combining_store(struct machine *machine, struct sim_hot *hot,
                     struct sim_thread *thread, const struct access_site *site,
                     uint64_t address);

/* At NOW all open lines leave; returns when memory has these lines and all earlier
 * lines. */
uint64_t combining_drain(struct machine *machine, struct sim_thread *thread,
                         uint64_t now);

#endif
