/* SPDX-License-Identifier: MIT */
/* Events of AMD's Zen cores, to be validated: AMD's lists have no retired loads that
 * missed, and only a validation can say what stands for them. Facts only. */
#ifndef MEMLAG_PERF_AMD_EVENTS_H
#define MEMLAG_PERF_AMD_EVENTS_H

#include "event_table.h"

/* The INDEX'th event of CPUs of FAMILY (23: Zen to Zen 2, 25: Zen 3 and 4, 26: Zen 5);
 * NULL after the last. The first is that of the cycles. */
const struct event *amd_event(int64_t family, size_t index);

#endif
