/* SPDX-License-Identifier: MIT */
/* Counts the inputs of the load miss real latency in threads of this process. */
#include "point_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attributes.h"
#include "intel_core.h"
#include "machine_facts.h"

/* The counted events; newer CPUs count MISSES and HITS as one event. */
enum part { PART_CYCLES, PART_PENDING, PART_MISSES, PART_HITS, PART_FB_FULL, PART_COUNT };

struct point_events {
        struct perf_event_attr attributes[PART_COUNT]; /* the first is the group leader */
        enum part parts[PART_COUNT];
        size_t count;
};

struct group {
        int fds[PART_COUNT]; /* first: the leader; -1: none */
};

struct point_counters {
        const struct point_events *events;
        struct group *groups; /* one per thread */
        size_t count;
};

/* ---- the events ---- */

static bool add_event(struct point_events *events, const struct intel_core *core,
                      enum event_role role, enum part part)
{
        const struct event *event = intel_core_event(core, role);
        if (!event)
                return false;
        events->attributes[events->count] =
            attributes_of_counter(core->pmu->type, event->config);
        events->attributes[events->count].disabled = events->count == 0;
        events->attributes[events->count].read_format = PERF_FORMAT_GROUP |
                                                        PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                        PERF_FORMAT_TOTAL_TIME_RUNNING;
        events->parts[events->count++] = part;
        return true;
}

static bool add_events(struct point_events *events, const struct intel_core *core)
{
        bool complete = add_event(events, core, ROLE_CYCLES, PART_CYCLES) &&
                        add_event(events, core, ROLE_PENDING, PART_PENDING);
        if (!complete)
                return false;
        if (!add_event(events, core, ROLE_L1_MISS_ANY, PART_MISSES))
                complete = add_event(events, core, ROLE_L1_MISS, PART_MISSES) &&
                           add_event(events, core, ROLE_FB_HIT, PART_HITS);
        add_event(events, core, ROLE_FB_FULL, PART_FB_FULL);
        return complete;
}

/* Whether the kernel accepts the events. */
static int try_events(const struct point_events *events, struct diag *diag)
{
        const pid_t self = 0;
        struct point_counters *counters = point_counters_start(events, &self, 1, diag);
        if (!counters)
                return -ENODEV;
        point_counters_stop(counters);
        return 0;
}

int point_events_find(struct point_events **events, struct diag *diag)
{
        struct point_events *new = calloc(1, sizeof(*new));
        struct machine machine;
        if (!new)
                return diag_no_memory(diag);
        machine_read("", &machine);
        machine_ask_cpu(&machine);
        const struct machine_pmu *pmu = machine_large_core_pmu(&machine);
        int rc =
            pmu ? 0 : diag_set(diag, -ENODEV, "this machine has no PMU of its cores");
        if (rc == 0) {
                struct intel_core core = intel_core_describe(&machine, pmu, 0);
                if (!add_events(new, &core))
                        rc = diag_set(diag, -ENODEV,
                                      "no events are known for this CPU's misses");
        }
        machine_free(&machine);
        if (rc == 0)
                rc = try_events(new, diag);
        if (rc < 0)
                point_events_free(new);
        else
                *events = new;
        return rc;
}

void point_events_free(struct point_events *events)
{
        free(events);
}

/* ---- counting ---- */

static void close_group(struct group *group)
{
        for (size_t i = 0; i < PART_COUNT; i++)
                if (group->fds[i] >= 0)
                        close(group->fds[i]);
}

static int open_group(const struct point_events *events, pid_t thread,
                      struct group *group)
{
        memset(group->fds, -1, sizeof(group->fds));
        for (size_t i = 0; i < events->count; i++) {
                struct perf_event_attr attr = events->attributes[i];
                group->fds[i] = (int)syscall(SYS_perf_event_open, &attr, thread, -1,
                                             group->fds[0], PERF_FLAG_FD_CLOEXEC);
                if (group->fds[i] < 0) {
                        int rc = -errno;
                        close_group(group);
                        return rc;
                }
        }
        return 0;
}

static void free_counters(struct point_counters *counters)
{
        for (size_t i = 0; i < counters->count; i++)
                close_group(&counters->groups[i]);
        free(counters->groups);
        free(counters);
}

struct point_counters *point_counters_start(const struct point_events *events,
                                            const pid_t *threads, size_t count,
                                            struct diag *diag)
{
        struct point_counters *new = calloc(1, sizeof(*new));
        if (new)
                new->groups = calloc(count, sizeof(*new->groups));
        if (!new || !new->groups) {
                free(new);
                diag_no_memory(diag);
                return NULL;
        }
        new->events = events;
        for (; new->count < count; new->count++) {
                int rc =
                    open_group(events, threads[new->count], &new->groups[new->count]);
                if (rc == 0)
                        continue;
                diag_set(diag, rc,
                         "the kernel does not count misses: %s; 'memlag doctor' "
                         "tells why",
                         strerror(-rc));
                free_counters(new);
                return NULL;
        }
        for (size_t i = 0; i < count; i++)
                ioctl(new->groups[i].fds[0], PERF_EVENT_IOC_ENABLE, 0);
        return new;
}

/* Adds the group's counts to SUMS, if the group was on the PMU all the time. */
static void add_counts(const struct point_events *events, const struct group *group,
                       double *sums)
{
        struct {
                uint64_t count, enabled, running;
                uint64_t values[PART_COUNT];
        } reading;
        ssize_t expected =
            (ssize_t)((3 + events->count) * sizeof(uint64_t)); /* read format */
        ioctl(group->fds[0], PERF_EVENT_IOC_DISABLE, 0);
        if (read(group->fds[0], &reading, sizeof(reading)) != expected ||
            reading.running == 0 || reading.running < reading.enabled)
                return;
        for (size_t i = 0; i < events->count; i++)
                sums[events->parts[i]] += (double)reading.values[i];
}

struct point_counts point_counters_stop(struct point_counters *counters)
{
        const struct point_events *events = counters->events;
        double sums[PART_COUNT] = {0};
        bool fb_full = events->parts[events->count - 1] == PART_FB_FULL;
        for (size_t i = 0; i < counters->count; i++)
                add_counts(events, &counters->groups[i], sums);
        double loads = sums[PART_MISSES] + sums[PART_HITS];
        free_counters(counters);
        return (struct point_counts){
            .lmrl_cycles = loads > 0 ? sums[PART_PENDING] / loads : NAN,
            .fb_full_share = fb_full && sums[PART_CYCLES] > 0
                                 ? sums[PART_FB_FULL] / sums[PART_CYCLES]
                                 : NAN,
        };
}
