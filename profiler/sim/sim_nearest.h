/* SPDX-License-Identifier: MIT */
/* A simulated CPU for a machine without a calibration: the preset of the nearest
 * microarchitecture, adjusted to this machine's caches, nodes, cores and clock. */
#ifndef MEMLAG_SIM_NEAREST_H
#define MEMLAG_SIM_NEAREST_H

#include "perf/facts/machine_facts.h"
#include "sim_preset.h"

/* Adjusts PRESET to the system below the directory ROOT ("" for this machine): NUMA node
 * count, cores per node, clock, and cache sizes and associativities. Unreported or
 * inconsistent values stay unchanged. */
void sim_nearest_fit(const char *root, struct sim_preset *preset);

/* Makes PRESET's page walks as long as in a virtual machine, if MACHINE is one. */
void sim_nearest_fit_walks(const struct machine *machine, struct sim_preset *preset);

#endif
