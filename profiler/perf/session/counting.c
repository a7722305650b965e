/* SPDX-License-Identifier: MIT */
/* Stores the last reading of each opening, and for each event of the plan the sum of
 * increments of all its openings and the reported part. Events with the same name and
 * the same code are one source: estimates of one rate. The sources of a name are added
 * up. */
#include "counting.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* A group that missed less was there all the time: the time that it could have run is
 * read a moment before the time that it ran. */
enum { JITTER_PART = 256 };

struct reading {
        uint64_t time_there;
        uint64_t time_running;
        uint64_t value;
};

struct slot { /* one counter of one group */
        const struct plan_event *event;
        size_t name;
        size_t source;         /* the first slot of the same source */
        bool was_read;         /* else its group is not open here */
        struct reading gained; /* by all openings, since the beginning */
        struct reading reported;
};

struct name {
        const char *name;
        const char *unit;
        int64_t reported_ns;
};

struct group {
        size_t first_slot;
        size_t slot_count; /* 0: it samples */
        struct reading gained;
        struct reading reported;
};

struct opening {
        size_t group;
        struct reading last; /* of its times */
        size_t first_value;  /* index of its events' last values */
};

struct counting {
        struct slot *slots;
        size_t slot_count;
        struct name *names;
        size_t name_count;
        struct group *groups;
        size_t group_count;
        struct opening *openings;
        size_t opening_count, opening_capacity;
        uint64_t *values;
        size_t value_count, value_capacity;
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

static bool same_source(const struct plan_event *a, const struct plan_event *b)
{
        return strcmp(a->name, b->name) == 0 && a->attr.type == b->attr.type &&
               a->attr.config == b->attr.config && a->attr.config1 == b->attr.config1 &&
               a->attr.config2 == b->attr.config2;
}

static size_t find_source(const struct counting *counting, const struct plan_event *event)
{
        size_t i = 0;
        while (i < counting->slot_count && !same_source(counting->slots[i].event, event))
                i++;
        return i;
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
                struct slot *slot = &counting->slots[counting->slot_count];
                *slot = (struct slot){.event = event,
                                      .name = place_name(counting, event, start_ns),
                                      .source = find_source(counting, event)};
                counting->slot_count++;
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
        free(counting->openings);
        free(counting->values);
        free(counting);
}

size_t counting_names(const struct counting *counting)
{
        return counting->name_count;
}

/* ---- reading ---- */

int counting_open(struct counting *counting, size_t group, size_t *opening)
{
        size_t values = counting->groups[group].slot_count;
        if (array_reserve(&counting->openings, &counting->opening_capacity,
                          counting->opening_count, sizeof(*counting->openings)) < 0 ||
            array_reserve(&counting->values, &counting->value_capacity,
                          counting->value_count + values, sizeof(*counting->values)) < 0)
                return -ENOMEM;
        *opening = counting->opening_count++;
        counting->openings[*opening] =
            (struct opening){.group = group, .first_value = counting->value_count};
        for (size_t i = 0; i < values; i++)
                counting->values[counting->value_count++] = 0;
        return 0;
}

/* Counters only rise; the increment of a fallen counter is unknown. */
static uint64_t risen(uint64_t now, uint64_t before)
{
        return now > before ? now - before : 0;
}

static void add(struct reading *reading, const struct reading *times, uint64_t value)
{
        reading->time_there += times->time_there;
        reading->time_running += times->time_running;
        reading->value += value;
}

void counting_add(struct counting *counting, size_t index, uint64_t time_there,
                  uint64_t time_running, const uint64_t *values)
{
        struct opening *opening = &counting->openings[index];
        struct group *group = &counting->groups[opening->group];
        uint64_t *last = counting->values + opening->first_value;
        struct reading times = {risen(time_there, opening->last.time_there),
                                risen(time_running, opening->last.time_running), 0};
        opening->last = (struct reading){time_there, time_running, 0};
        add(&group->gained, &times, 0);
        for (size_t i = 0; i < group->slot_count; i++) {
                struct slot *slot = &counting->slots[group->first_slot + i];
                add(&slot->gained, &times, risen(values[i], last[i]));
                slot->was_read = true;
                last[i] = values[i];
        }
}

/* ---- gains ---- */

static struct reading gained(const struct reading *now, const struct reading *before)
{
        return (struct reading){now->time_there - before->time_there,
                                now->time_running - before->time_running,
                                now->value - before->value};
}

static bool ran_always(const struct reading *gain)
{
        return gain->time_running >= gain->time_there - gain->time_there / JITTER_PART;
}

/* Events that took turns, and between them left nothing out. */
static bool ran_in_turns(const struct reading *sum)
{
        return ran_always(sum) &&
               sum->time_running <= sum->time_there + sum->time_there / JITTER_PART;
}

uint64_t counting_scaled(uint64_t count, uint64_t time_there, uint64_t time_running)
{
        if (time_running == 0)
                return count;
        double scaled = (double)count * (double)time_there / (double)time_running;
        return scaled < 0x1p63 ? (uint64_t)(scaled + 0.5) : count;
}

/* Increment of a source; false when it did not run although it could have. */
static bool gain_of_source(const struct counting *counting, size_t source,
                           uint64_t *value)
{
        struct reading sum = {0, 0, 0};
        size_t events = 0;
        for (size_t i = source; i < counting->slot_count; i++) {
                const struct slot *slot = &counting->slots[i];
                if (slot->source != source)
                        continue;
                struct reading gain = gained(&slot->gained, &slot->reported);
                if (gain.time_there > sum.time_there)
                        sum.time_there = gain.time_there;
                sum.time_running += gain.time_running;
                sum.value += gain.value;
                events++;
        }
        if (sum.time_running == 0 && sum.time_there > 0)
                return false;
        bool whole = events == 1 ? ran_always(&sum) : ran_in_turns(&sum);
        *value = (whole ? sum.value
                        : counting_scaled(sum.value, sum.time_there, sum.time_running)) *
                 counting->slots[source].event->scale;
        return true;
}

static bool source_was_read(const struct counting *counting, size_t source)
{
        for (size_t i = source; i < counting->slot_count; i++)
                if (counting->slots[i].source == source && counting->slots[i].was_read)
                        return true;
        return false;
}

/* Increment of a name: the sum of its sources; false when no source is counted here. */
static bool gain_of_name(const struct counting *counting, size_t name, uint64_t *value)
{
        bool counted = false;
        *value = 0;
        for (size_t i = 0; i < counting->slot_count; i++) {
                uint64_t part;
                if (counting->slots[i].name != name || counting->slots[i].source != i ||
                    !source_was_read(counting, i))
                        continue;
                if (!gain_of_source(counting, i, &part))
                        return false;
                *value += part;
                counted = true;
        }
        return counted;
}

static void mark_reported(struct counting *counting, size_t name)
{
        for (size_t i = 0; i < counting->slot_count; i++)
                if (counting->slots[i].name == name)
                        counting->slots[i].reported = counting->slots[i].gained;
}

static struct counting_missed missed_since_before(struct counting *counting)
{
        struct counting_missed missed = {0, 0};
        for (size_t i = 0; i < counting->group_count; i++) {
                struct group *group = &counting->groups[i];
                struct reading gain = gained(&group->gained, &group->reported);
                group->reported = group->gained;
                if (ran_always(&gain))
                        continue;
                *(group->slot_count ? &missed.counters_ns : &missed.samples_ns) +=
                    gain.time_there - gain.time_running;
        }
        return missed;
}

static int by_start(const void *left, const void *right)
{
        const struct counting_gain *a = left, *b = right;
        return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

size_t counting_gains(struct counting *counting, int64_t now_ns,
                      struct counting_gain *gains, struct counting_missed *missed)
{
        *missed = missed_since_before(counting);
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
        if (count)
                qsort(gains, count, sizeof(*gains), by_start);
        return count;
}
