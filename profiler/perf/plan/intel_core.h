/* SPDX-License-Identifier: MIT */
/* One kind of core of an Intel CPU: its PMU, its events, and the counters that are left
 * on it. Pure. */
#ifndef MEMLAG_PERF_INTEL_CORE_H
#define MEMLAG_PERF_INTEL_CORE_H

#include "event_table.h"
#include "machine_facts.h"
#include "validation.h"

enum { INTEL_CORE_SAMPLED_MAX = 3 };

struct intel_core {
        const struct machine_pmu *pmu; /* of the machine */
        const char *platform;          /* NULL: not in the table */
        enum core_kind kind;
        uint64_t counters; /* existing free counters, one bit each */
        /* The usable counters of each sampled event. */
        uint64_t sampled[INTEL_CORE_SAMPLED_MAX];
        size_t sampled_count;
        struct validated_counters validated;
};

/* PMU belongs to MACHINE. GENERAL_COUNTERS: its number of counters; 0: the expected
 * number. */
struct intel_core intel_core_describe(const struct machine *machine,
                                      const struct machine_pmu *pmu,
                                      unsigned general_counters);

/* Returns the default event for ROLE, validated or not; NULL: unknown. */
const struct event *intel_core_usual_event(const struct intel_core *core,
                                           enum event_role role);

/* Returns the event that a validation prefers for ROLE, else the usual event; NULL when
 * the event is unknown or unusable. */
const struct event *intel_core_event(const struct intel_core *core, enum event_role role);

/* The free counters that EVENT can be on; NULL: any. */
uint64_t intel_core_counters(const struct intel_core *core, const struct event *event);

/* Notes that the event of ROLE is sampled. */
void intel_core_sample(struct intel_core *core, enum event_role role);

#endif
