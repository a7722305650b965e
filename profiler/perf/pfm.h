/* SPDX-License-Identifier: MIT */
/* What libpfm4 knows of this CPU. Apart from the other facts, because the library looks
 * only at the machine that it runs on. */
#ifndef MEMLAG_PERF_PFM_H
#define MEMLAG_PERF_PFM_H

#include "machine.h"

/* The code of the event NAME on this CPU, such as "L1D:REPLACEMENT"; false: libpfm4 knows
 * none. */
bool pfm_find(const char *name, struct pmu_code *code);

/* Fills in pfm_loads of MACHINE's only core PMU. The library knows no hybrid CPU. */
void machine_ask_pfm(struct machine *machine);

#endif
