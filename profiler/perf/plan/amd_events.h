/* SPDX-License-Identifier: MIT */
/* Events of AMD's Zen cores, to be validated. AMD's lists have no retired loads that
 * missed; only a validation can find a substitute. Facts only. */
#ifndef MEMLAG_PERF_AMD_EVENTS_H
#define MEMLAG_PERF_AMD_EVENTS_H

#include "event_table.h"

/* Returns the INDEX'th event of CPUs of FAMILY (23: Zen to Zen 2, 25: Zen 3 and 4, 26:
 * Zen 5); NULL after the last. The first event counts cycles. */
const struct event *amd_event(int64_t family, size_t index);

#endif
