/* SPDX-License-Identifier: MIT */
/* Common attributes of the events of every plan: sample contents, sampled privilege
 * levels, and the form of counter values. Knows no CPU. */
#ifndef MEMLAG_PERF_ATTRIBUTES_H
#define MEMLAG_PERF_ATTRIBUTES_H

#include "plan.h"
#include "pmu.h"

/* Samples of memory accesses in user code. WEIGHT_STRUCT: the kernel has it (Linux 5.12);
 * else the plain weight. */
struct perf_event_attr attributes_of_samples(uint32_t type, uint64_t config,
                                             const struct plan_options *options,
                                             bool weight_struct);

/* Counts in user code. */
struct perf_event_attr attributes_of_counter(uint32_t type, uint64_t config);

void attributes_set_code(struct perf_event_attr *attr, const struct pmu_code *code);

#endif
