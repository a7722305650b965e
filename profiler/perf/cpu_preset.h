/* SPDX-License-Identifier: MIT */
/* Which preset of the simulated CPU is of a CPU's microarchitecture. Pure. */
#ifndef MEMLAG_PERF_CPU_PRESET_H
#define MEMLAG_PERF_CPU_PRESET_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the preset for the CPU of this VENDOR ("GenuineIntel"), FAMILY and MODEL as
 * CPUID has them; never NULL. *SAME is whether the preset is of the CPU's own
 * microarchitecture; otherwise it is the vendor's newest, or one of Intel's for other
 * vendors. */
const char *cpu_preset(const char *vendor, int64_t family, int64_t model, bool *same);

#endif
