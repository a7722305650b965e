/* SPDX-License-Identifier: MIT */
/* Selects the simulated CPU's preset for a CPU's microarchitecture. Pure. */
#ifndef MEMLAG_PERF_CPU_PRESET_H
#define MEMLAG_PERF_CPU_PRESET_H

#include <stdint.h>

/* Returns the name of the preset for the CPU of this VENDOR ("GenuineIntel"), FAMILY and
 * MODEL from CPUID; never NULL. *UNLIKE is NULL if the preset matches the CPU's
 * microarchitecture. Otherwise it is the reason; the preset is then the vendor's oldest
 * or newest, or an Intel preset for other vendors. */
const char *cpu_preset(const char *vendor, int64_t family, int64_t model,
                       const char **unlike);

#endif
