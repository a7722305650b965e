/* SPDX-License-Identifier: MIT */
/* Finds events in the generated table. Platforms' names are compared as strings: the
 * table is small and searched a few times in a run. */
#include "event_table.h"

#include <string.h>

#define COUNTERS(platform, core, count)
#define EVENT(platform, core, role, name, config, counters)
#define MODEL(platform, family, model, steppings, core)                                  \
        {{platform, core}, family, model, steppings},
static const struct {
        struct event_platform platform;
        int64_t family;
        int64_t model;
        uint32_t steppings; /* one bit each */
} models[] = {
#include "intel_events.inc"
};
#undef MODEL
#undef COUNTERS

#define MODEL(platform, family, model, steppings, core)
#define COUNTERS(platform, core, count) {platform, core, count},
static const struct {
        const char *platform;
        enum core_kind core;
        unsigned counters;
} cores[] = {
#include "intel_events.inc"
};
#undef COUNTERS
#undef EVENT

#define COUNTERS(platform, core, count)
#define EVENT(platform, core, role, name, config, counters)                              \
        {platform, core, role, {name, config, counters}},
static const struct {
        const char *platform;
        enum core_kind core;
        enum event_role role;
        struct event event;
} events[] = {
#include "intel_events.inc"
};

const struct event_platform *event_platform_find(int64_t family, int64_t model,
                                                 int64_t stepping)
{
        if (stepping < 0 || stepping > 15)
                return NULL;
        for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
                if (models[i].family == family && models[i].model == model &&
                    models[i].steppings >> stepping & 1)
                        return &models[i].platform;
        return NULL;
}

const struct event *event_find(const char *platform, enum core_kind core,
                               enum event_role role, size_t index)
{
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
                if (events[i].role == role && events[i].core == core &&
                    strcmp(events[i].platform, platform) == 0 && index-- == 0)
                        return &events[i].event;
        return NULL;
}

unsigned event_counters(const char *platform, enum core_kind core)
{
        for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
                if (cores[i].core == core && strcmp(cores[i].platform, platform) == 0)
                        return cores[i].counters;
        return 0;
}

const char *event_role_unit(enum event_role role)
{
        switch (role) {
        case ROLE_CYCLES:
        case ROLE_PENDING:
        case ROLE_FB_FULL:
        case ROLE_SQ_FULL:
        case ROLE_STALLS:
        case ROLE_STALLS_L1D:
        case ROLE_STALLS_L2:
        case ROLE_STALLS_L3:
        case ROLE_STORE_BUFFER:
                return "cycles";
        case ROLE_DRAM_READ:
        case ROLE_DRAM_WRITE:
                return "bytes";
        default:
                return "events";
        }
}
