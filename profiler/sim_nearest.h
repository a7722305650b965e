/* SPDX-License-Identifier: MIT */
/* A simulated CPU for a machine without a calibration: the preset of the nearest
 * microarchitecture, with what the system says of this machine's caches, nodes, cores and
 * clock. */
#ifndef MEMLAG_SIM_NEAREST_H
#define MEMLAG_SIM_NEAREST_H

#include "sim_preset.h"

/* Replaces in PRESET the numbers of nodes and of cores in each, the clock, and the sizes
 * and associativities of the caches by those that the system below the directory ROOT (""
 * for this machine) reports. What is not reported, or does not fit the rest, stays as it
 * is. */
void sim_nearest_fit(const char *root, struct sim_preset *preset);

#endif
