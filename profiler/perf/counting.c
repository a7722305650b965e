/* SPDX-License-Identifier: MIT */
/* Keeps for each counter of a plan what was read last and what was reported last. */
#include "counting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reading {
        uint64_t time_enabled;
        uint64_t time_running;
        uint64_t value;
};

struct slot { /* one event of one group */
        size_t name;
        uint64_t scale;
        struct reading now;
        struct reading reported;
};

struct name {
        const char *name;
        const char *unit;
        int64_t reported_ns;
};

struct group {
        size_t first_slot;
        size_t slot_count;
        uint64_t missed_ns; /* as of the last report */
};

struct counting {
        struct slot *slots;
        size_t slot_count;
        struct name *names;
        size_t name_count;
        struct group *groups;
        size_t group_count;
};

static size_t place_name(struct counting *counting, const struct plan_event *event,
                         int64_t start_ns)
{
        for (size_t i = 0; i < counting->name_count; i++)
                if (strcmp(counting->names[i].name, event->name) == 0)
                        return i;
        counting->names[counting->name_count] =
            (struct name){event->name, event->unit, start_ns};
        return counting->name_count++;
}

static void add_group(struct counting *counting, const struct plan_group *plan,
                      int64_t start_ns)
{
        struct group *group = &counting->groups[counting->group_count++];
        group->first_slot = counting->slot_count;
        for (size_t i = 0; i < plan->count; i++) {
                const struct plan_event *event = &plan->events[i];
                if (event->use != PLAN_COUNTER)
                        continue;
                counting->slots[counting->slot_count++] =
                    (struct slot){.name = place_name(counting, event, start_ns),
                                  .scale = event->scale ? event->scale : 1};
                group->slot_count++;
        }
}

struct counting *counting_new(const struct plan *plan, int64_t start_ns)
{
        size_t events = 1; /* calloc of nothing may be NULL */
        for (size_t i = 0; i < plan->group_count; i++)
                events += plan->groups[i].count;
        struct counting *counting = calloc(1, sizeof(*counting));
        if (!counting)
                return NULL;
        counting->slots = calloc(events, sizeof(*counting->slots));
        counting->names = calloc(events, sizeof(*counting->names));
        counting->groups = calloc(plan->group_count + 1, sizeof(*counting->groups));
        if (!counting->slots || !counting->names || !counting->groups) {
                counting_free(counting);
                return NULL;
        }
        for (size_t i = 0; i < plan->group_count; i++)
                add_group(counting, &plan->groups[i], start_ns);
        return counting;
}

void counting_free(struct counting *counting)
{
        if (!counting)
                return;
        free(counting->slots);
        free(counting->names);
        free(counting->groups);
        free(counting);
}

size_t counting_names(const struct counting *counting)
{
        return counting->name_count;
}

void counting_read(struct counting *counting, size_t index, uint64_t time_enabled,
                   uint64_t time_running, const uint64_t *values)
{
        const struct group *group = &counting->groups[index];
        for (size_t i = 0; i < group->slot_count; i++)
                counting->slots[group->first_slot + i].now =
                    (struct reading){time_enabled, time_running, values[i]};
}

/* What the slots of NAME gained together, scaled to the time enabled; false when they did
 * not run although they were enabled. */
static bool gain_of_name(struct counting *counting, size_t name, uint64_t *gain)
{
        uint64_t enabled = 0;
        uint64_t running = 0;
        uint64_t gained = 0;
        for (size_t i = 0; i < counting->slot_count; i++) {
                const struct slot *slot = &counting->slots[i];
                if (slot->name != name)
                        continue;
                uint64_t slot_enabled =
                    slot->now.time_enabled - slot->reported.time_enabled;
                enabled = slot_enabled > enabled ? slot_enabled : enabled;
                running += slot->now.time_running - slot->reported.time_running;
                gained += (slot->now.value - slot->reported.value) * slot->scale;
        }
        if (running == 0 && enabled > 0)
                return false;
        double scaled = (double)gained * ((double)enabled / (double)running);
        /* One group that ran all the time: the very count. */
        *gain = running == enabled || running == 0 || scaled >= 0x1p63 ? gained
                                                                       : (uint64_t)scaled;
        return true;
}

static void mark_reported(struct counting *counting, size_t name)
{
        for (size_t i = 0; i < counting->slot_count; i++)
                if (counting->slots[i].name == name)
                        counting->slots[i].reported = counting->slots[i].now;
}

static uint64_t missed_since_before(struct counting *counting)
{
        uint64_t missed_ns = 0;
        for (size_t i = 0; i < counting->group_count; i++) {
                struct group *group = &counting->groups[i];
                if (group->slot_count == 0)
                        continue;
                const struct reading *now = &counting->slots[group->first_slot].now;
                uint64_t missed = now->time_enabled - now->time_running;
                missed_ns += missed - group->missed_ns;
                group->missed_ns = missed;
        }
        return missed_ns;
}

size_t counting_gains(struct counting *counting, int64_t now_ns,
                      struct counting_gain *gains, uint64_t *missed_ns)
{
        *missed_ns = missed_since_before(counting);
        size_t count = 0;
        for (size_t i = 0; i < counting->name_count; i++) {
                struct name *name = &counting->names[i];
                uint64_t value;
                if (!gain_of_name(counting, i, &value))
                        continue;
                gains[count++] = (struct counting_gain){name->name, name->unit,
                                                        name->reported_ns, value};
                name->reported_ns = now_ns;
                mark_reported(counting, i);
        }
        return count;
}
