/* SPDX-License-Identifier: MIT */
/* Which preset of the simulated CPU is of a CPU's microarchitecture. Pure. */
#ifndef MEMLAG_PERF_CPU_PRESET_H
#define MEMLAG_PERF_CPU_PRESET_H

#include <stdint.h>

/* The name of the preset for the CPU of this VENDOR ("GenuineIntel"), FAMILY and MODEL as
 * CPUID has them; never NULL. *UNLIKE is NULL where the preset is of the CPU's own
 * microarchitecture. Otherwise it says why there is none of that, and the preset is the
 * vendor's oldest or newest, or one of Intel's for other vendors. */
const char *cpu_preset(const char *vendor, int64_t family, int64_t model,
                       const char **unlike);

#endif
