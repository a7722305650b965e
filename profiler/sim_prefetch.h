/* SPDX-License-Identifier: MIT */
/* The simulated PMU's hardware prefetchers by name. */
#ifndef MEMLAG_SIM_PREFETCH_H
#define MEMLAG_SIM_PREFETCH_H

#include <stdint.h>

#include "diag.h"

/* TEXT is "on", "off" or names separated by commas; *ON gets a bit of each enum
 * simpmu_prefetcher that is meant. -EINVAL with a line in DIAG for anything else. */
int sim_prefetch_parse(const char *text, uint32_t *on, struct diag *diag);

/* The names of those that are ON, NULL-terminated, into NAMES, which has room for
 * SIM_PREFETCH_NAMES; their strings are constant. */
#define SIM_PREFETCH_NAMES 8
void sim_prefetch_names(uint32_t on, const char *names[SIM_PREFETCH_NAMES]);

#endif
