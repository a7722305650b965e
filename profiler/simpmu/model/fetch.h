/* SPDX-License-Identifier: MIT */
/* The front end: how fast the core delivers instructions to what issues them, where
 * branches are followed. Code comes in runs: what lies in one line up to a taken branch
 * or the line's end. Generated code adds up what runs take; what the caches of code lack
 * is looked up here.
 *
 * The front end has a clock of its own, which is kept as a stall is: its time less the
 * instructions. Where it is later than the thread's stall, nothing can issue; where it is
 * earlier, the front end is ahead, as far as its queue reaches.
 *
 * Not modelled: translations of code's addresses, tables of targets that are too small,
 * what wrong predictions fetch. */
#ifndef SIMPMU_MODEL_FETCH_H
#define SIMPMU_MODEL_FETCH_H

#include "machine.h"

/* From now on the front end of MACHINE, which has run nothing yet, is followed. */
void fetch_begin(struct machine *machine);

/* The front end of CORE, as CORE is made. */
void fetch_init_core(const struct machine *machine, struct core *core);

/* The next INSTRUCTIONS lie in LINE, of which HOT does not say that its decoded code is
 * there. */
void fetch_line(struct machine *machine, struct sim_hot *hot, struct sim_thread *thread,
                uint64_t line, uint32_t instructions);

/* The front end is later than the thread: instructions wait for it. */
static inline void fetch_wait(struct sim_hot *hot, struct sim_thread *thread)
{
        thread->stall = later(thread->stall, hot->fetched);
        stall_to_hot(hot, thread);
}

/* How much later than the thread it has to be before generated code says so: what is
 * less is still to come. */
static inline uint64_t fetch_slack(const struct machine *machine)
{
        return machine->slots_per_cycle;
}

#endif
