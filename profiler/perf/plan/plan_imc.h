/* SPDX-License-Identifier: MIT */
/* The groups that count the whole machine's DRAM reads and writes in its memory
 * controllers. Pure. */
#ifndef MEMLAG_PERF_PLAN_IMC_H
#define MEMLAG_PERF_PLAN_IMC_H

#include "machine_facts.h"
#include "plan.h"

/* Adds a group for each controller of MACHINE with known events. -ENOMEM. */
int plan_imc(const struct machine *machine, struct plan *plan);

#endif
