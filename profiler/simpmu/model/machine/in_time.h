/* SPDX-License-Identifier: MIT */
/* Accesses whose lines are requested exactly early enough, as by a perfect prefetch.
 * They compete for bandwidth, buffers and paths as any other request does. */
#ifndef SIMPMU_MODEL_IN_TIME_H
#define SIMPMU_MODEL_IN_TIME_H

#include "machine.h"

/* Call this before the access of SITE to ADDRESS, a store if WRITE, is modelled.
 * Requests the lines that L1 lacks, earlier than the thread's clock by the latency of
 * an idle memory. An untouched page has no lines to request. */
void in_time_bring(struct machine *machine, struct sim_hot *hot,
                   struct sim_thread *thread, const struct access_site *site,
                   uint64_t address, bool write);

#endif
