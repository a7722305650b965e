/* SPDX-License-Identifier: MIT */
/* Which samples have a latency of retirement (datasrc.h). A pure function. */
#ifndef MEMLAG_PERF_RETIRE_LATENCY_H
#define MEMLAG_PERF_RETIRE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if Intel's CPU of FAMILY and MODEL has Timed PEBS, and the kernel RELEASE
 * ("6.8.0") delivers it, since 6.3. Only the kernel can read the capability
 * (PEBS_TIMING_INFO, bit 17 of IA32_PERF_CAPABILITIES). On other CPUs the field is 0, or
 * undefined before 6.3. */
bool retire_latency_known(int64_t family, int64_t model, const char *release);

#endif
