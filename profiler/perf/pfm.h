/* SPDX-License-Identifier: MIT */
/* What libpfm4 knows of this CPU. Apart from the other facts, because the library looks
 * only at the machine that it runs on. */
#ifndef MEMLAG_PERF_PFM_H
#define MEMLAG_PERF_PFM_H

#include "machine.h"

/* The code of the event NAME on this CPU, such as "L1D:REPLACEMENT"; false: libpfm4 knows
 * none. */
bool pfm_find(const char *name, struct pmu_code *code);

/* The names of the CPU's core events that are about memory, such as
 * "l2_rqsts.all_demand_data_rd", each of which pfm_find knows: of each event all unit
 * masks by themselves, but none that needs a parameter. NULL-terminated; the caller frees
 * it and each name. NULL: no memory, or libpfm4 does not know this CPU. */
char **pfm_memory_events(void);

/* Fills in pfm_loads of MACHINE's only core PMU. The library knows no hybrid CPU. */
void machine_ask_pfm(struct machine *machine);

#endif
