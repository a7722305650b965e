/* SPDX-License-Identifier: MIT */
/* Checks whether each event can have a counter. Pure. */
#ifndef MEMLAG_PERF_COUNTER_FIT_H
#define MEMLAG_PERF_COUNTER_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if all COUNT events can be counted at once. EVENTS[i]: the counters that
 * can count event i, one bit each. */
bool counters_fit(const uint64_t *events, size_t count);

#endif
