/* SPDX-License-Identifier: MIT */
/* Which samples have a latency of retirement (datasrc.h). A pure function. */
#ifndef MEMLAG_PERF_RETIRE_LATENCY_H
#define MEMLAG_PERF_RETIRE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether Intel's CPU of FAMILY and MODEL has Timed PEBS (PEBS_TIMING_INFO, bit 17 of
 * IA32_PERF_CAPABILITIES, which only the kernel can read), and the kernel RELEASE
 * ("6.8.0") hands it on, since 6.3. Of other CPUs the field is 0, or before 6.3 whatever
 * lay there. */
bool retire_latency_known(int64_t family, int64_t model, const char *release);

#endif
