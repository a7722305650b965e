/* SPDX-License-Identifier: MIT */
/* Queries libpfm4 about this CPU. Separate from the other facts, because the library
 * describes only the current machine. */
#ifndef MEMLAG_PERF_PFM_H
#define MEMLAG_PERF_PFM_H

#include "machine_facts.h"

/* Finds the code of the event NAME on this CPU, such as "L1D:REPLACEMENT"; false:
 * libpfm4 does not know it. */
bool pfm_find(const char *name, struct pmu_code *code);

/* Returns the names of the CPU's core events about memory, such as
 * "l2_rqsts.all_demand_data_rd"; pfm_find knows each name. Contains each unit mask of
 * each event separately, without events that need a parameter. NULL-terminated; the
 * caller frees it and each name. NULL: no memory, or libpfm4 does not know this CPU. */
char **pfm_memory_events(void);

/* Fills in pfm_loads of MACHINE's only core PMU. The library knows no hybrid CPU. */
void machine_ask_pfm(struct machine *machine);

#endif
