/* SPDX-License-Identifier: MIT */
/* Accesses whose lines are requested exactly early enough, as by a perfect prefetch.
 * They compete for bandwidth, buffers and paths as any other request does. */
#ifndef SIMPMU_MODEL_IN_TIME_H
#define SIMPMU_MODEL_IN_TIME_H

#include "machine.h"

/* Before the access of SITE, to WRITE or not, to ADDRESS is modelled: requests the lines
 * that L1 lacks, so much before the thread's clock as an idle memory takes. A page that
 * nobody has touched has none that could be brought. */
void in_time_bring(struct machine *machine, struct sim_hot *hot,
                   struct sim_thread *thread, const struct access_site *site,
                   uint64_t address, bool write);

#endif
