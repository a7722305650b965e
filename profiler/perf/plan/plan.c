/* SPDX-License-Identifier: MIT */
/* Keeps a plan's groups. Which groups they are is decided elsewhere. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

struct plan_group *plan_add_group(struct plan *plan)
{
        struct plan_group *grown =
            reallocarray(plan->groups, plan->group_count + 1, sizeof(*grown));
        if (!grown)
                return NULL;
        plan->groups = grown;
        grown[plan->group_count] = (struct plan_group){.count = 0};
        return &grown[plan->group_count++];
}

struct plan_group *plan_add_group_on(struct plan *plan, const int *cpus, size_t cpu_count)
{
        struct plan_group *group = plan_add_group(plan);
        if (!group || !cpu_count)
                return group;
        group->cpus = malloc(cpu_count * sizeof(*group->cpus));
        if (!group->cpus)
                return NULL;
        memcpy(group->cpus, cpus, cpu_count * sizeof(*group->cpus));
        group->cpu_count = cpu_count;
        return group;
}

struct plan_event *plan_add_event(struct plan_group *group, enum plan_use use,
                                  const struct perf_event_attr *attr)
{
        struct plan_event *event = &group->events[group->count++];
        *event = (struct plan_event){.attr = *attr, .use = use, .scale = 1};
        return event;
}

void plan_free(struct plan *plan)
{
        for (size_t i = 0; i < plan->group_count; i++)
                free(plan->groups[i].cpus);
        free(plan->groups);
        *plan = (struct plan){.groups = NULL};
}

const char *plan_large_pebs_obstacle(const struct perf_event_attr *attr)
{
        if (attr->freq)
                return "a frequency instead of a period is asked for";
        if (attr->wakeup_events && !attr->watermark)
                return "a wake-up after so many samples is asked for";
        if (attr->use_clockid && attr->sample_type & PERF_SAMPLE_TIME)
                return "times in another clock than perf's own are asked for";
        if (attr->sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER))
                return "a call stack with each sample is asked for";
        if (attr->sample_type & PERF_SAMPLE_DATA_PAGE_SIZE)
                return "the page size of each address is asked for";
        return NULL;
}
