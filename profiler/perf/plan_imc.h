/* SPDX-License-Identifier: MIT */
/* The groups that count what the whole machine reads from DRAM and writes to it, in its
 * memory controllers. Pure. */
#ifndef MEMLAG_PERF_PLAN_IMC_H
#define MEMLAG_PERF_PLAN_IMC_H

#include "machine.h"
#include "plan.h"

/* Adds a group for each controller of MACHINE whose events are known. -ENOMEM. */
int plan_imc(const struct machine *machine, struct plan *plan);

#endif
