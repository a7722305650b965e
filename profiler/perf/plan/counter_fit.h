/* SPDX-License-Identifier: MIT */
/* Checks whether each event can have a counter. Pure. */
#ifndef MEMLAG_PERF_COUNTER_FIT_H
#define MEMLAG_PERF_COUNTER_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* EVENTS[i] is the set of counters, one bit each, that can count event i. */
bool counters_fit(const uint64_t *events, size_t count);

#endif
