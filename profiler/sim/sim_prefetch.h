/* SPDX-License-Identifier: MIT */
/* The simulated PMU's hardware prefetchers by name. */
#ifndef MEMLAG_SIM_PREFETCH_H
#define MEMLAG_SIM_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"

/* Parses TEXT: "on", "off" or names separated by commas. *ON gets a bit for each
 * selected enum simpmu_prefetcher. -EINVAL with a line in DIAG for anything else. */
int sim_prefetch_parse(const char *text, uint32_t *on, struct diag *diag);

/* Stores the names of the prefetchers in ON, NULL-terminated, in NAMES, which has
 * SIM_PREFETCH_NAMES elements. The strings are constant. */
#define SIM_PREFETCH_NAMES 8
void sim_prefetch_names(uint32_t on, const char *names[SIM_PREFETCH_NAMES]);

/* All of them. */
uint32_t sim_prefetch_all(void);

/* "on", "off", or their names with a '+' between, into LABEL of SIZE bytes: the same for
 * the same set, and fit for a file's name. */
void sim_prefetch_label(uint32_t on, char *label, size_t size);

#endif
