/* SPDX-License-Identifier: MIT */
/* Says the simulated PMU's records in the terms of source.h. */
#ifndef MEMLAG_SIM_DELIVER_H
#define MEMLAG_SIM_DELIVER_H

#include "sim_preset.h"
#include "source.h"

/* Hands a checked record of IMAGE, which it may change, to the sink. SIMPMU_PROCESS and
 * SIMPMU_END are not for this function: they begin and end images. */
int sim_deliver(struct sink *sink, image_key image, struct simpmu_record *record,
                struct diag *diag);

/* Delivers the parameters of the simulated machine to the sink. */
int sim_deliver_machine(struct sink *sink, const struct sim_preset *preset,
                        struct diag *diag);

#endif
