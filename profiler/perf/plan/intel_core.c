/* SPDX-License-Identifier: MIT */
/* Looks a core up in the table of events, and counts its counters. */
#include "intel_core.h"

#include <string.h>

static enum core_kind kind_of(const struct machine_pmu *pmu,
                              const struct event_platform *platform)
{
        if (strcmp(pmu->name, "cpu_core") == 0)
                return CORE_P;
        if (strcmp(pmu->name, "cpu") == 0)
                return platform ? platform->core : CORE_P;
        return CORE_E;
}

/* The counters available to a group. The NMI watchdog occupies fixed counter 1, the
 * cycle counter. */
static uint64_t free_counters(const struct machine *machine,
                              const struct intel_core *core, unsigned general)
{
        enum { UNKNOWN_CPU_COUNTERS = 4, FIXED_COUNTERS = 3 };
        if (!general)
                general = machine->counters;
        if (!general && core->platform)
                general = event_counters(core->platform, core->kind);
        if (!general)
                general = UNKNOWN_CPU_COUNTERS;
        if (general > EVENT_FIXED_SHIFT - 1)
                general = EVENT_FIXED_SHIFT - 1;
        uint64_t fixed = (UINT64_C(1) << FIXED_COUNTERS) - 1;
        if (machine->nmi_watchdog)
                fixed &= ~UINT64_C(2);
        return ((UINT64_C(1) << general) - 1) | fixed << EVENT_FIXED_SHIFT;
}

struct intel_core intel_core_describe(const struct machine *machine,
                                      const struct machine_pmu *pmu,
                                      unsigned general_counters)
{
        const struct event_platform *platform =
            event_platform_find(machine->family, machine->model, machine->stepping);
        struct intel_core core = {
            .pmu = pmu,
            .platform = platform ? platform->name : NULL,
            .kind = kind_of(pmu, platform),
        };
        core.counters = free_counters(machine, &core, general_counters);
        return core;
}

const struct event *intel_core_usual_event(const struct intel_core *core,
                                           enum event_role role)
{
        return core->platform ? event_find(core->platform, core->kind, role, 0) : NULL;
}

const struct event *intel_core_event(const struct intel_core *core, enum event_role role)
{
        const struct event *usual = intel_core_usual_event(core, role), *other;
        for (size_t i = 1;
             usual && (other = event_find(core->platform, core->kind, role, i)); i++)
                if (validation_lists(core->validated.preferred, other->name))
                        return other;
        return usual && validation_lists(core->validated.unusable, usual->name) ? NULL
                                                                                : usual;
}

uint64_t intel_core_counters(const struct intel_core *core, const struct event *event)
{
        return (event && event->counters ? event->counters : ~UINT64_C(0)) &
               core->counters;
}

void intel_core_sample(struct intel_core *core, enum event_role role)
{
        core->sampled[core->sampled_count++] =
            intel_core_counters(core, intel_core_event(core, role));
}
