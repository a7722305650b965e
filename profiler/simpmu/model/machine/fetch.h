/* SPDX-License-Identifier: MIT */
/* The front end: its rate of instruction delivery to the issue stage. It is followed
 * with branches, otherwise in loops of one block only (instrument_fetch.c). Code comes
 * in runs: instructions in one line up to a taken branch or the line's end. Generated
 * code sums the time of runs; this file looks up misses of the code caches.
 *
 * The front end has a separate clock, stored like a stall: its time less the
 * instructions. If it is later than the thread's stall, nothing can issue. If it is
 * earlier, the front end is ahead, at most by its queue.
 *
 * Not modelled: the instruction TLB, limited branch target tables, fetches on a wrong
 * path. */
#ifndef SIMPMU_MODEL_FETCH_H
#define SIMPMU_MODEL_FETCH_H

#include "machine.h"

/* The times of MACHINE's front end; MACHINE has run nothing yet. CACHES: the code caches
 * are modelled. */
void fetch_begin(struct machine *machine, bool caches);

/* The front end of CORE, as CORE is made. */
void fetch_init_core(const struct machine *machine, struct core *core);

/* The next INSTRUCTIONS lie in LINE. HOT does not list LINE as decoded. */
void fetch_line(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint32_t instructions);

/* The front end is later than the thread: instructions wait for it. */
static inline void fetch_wait(struct sim_hot *hot, struct sim_thread *thread)
{
        thread->stall = later(thread->stall, hot->fetched);
        stall_to_hot(hot, thread);
}

/* The lag behind the thread at which generated code calls. A smaller lag may still
 * vanish. */
static inline uint64_t fetch_slack(const struct machine *machine)
{
        return machine->slots_per_cycle;
}

#endif
