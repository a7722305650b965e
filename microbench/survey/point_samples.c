/* SPDX-License-Identifier: MIT */
/* Samples loads of the calling thread and sums their latency. */
#include "point_samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "datasrc.h"
#include "machine_facts.h"
#include "plan_try.h"
#include "record.h"
#include "ring.h"

/* A prime period avoids resonance with loops, and gives about ten thousand samples a
 * second in a chase through memory. The latency threshold is above the latency of any
 * cache. */
enum { PERIOD = 499, LDLAT_CYCLES = 30, RING_PAGES = 128, EVENTS_MAX = 2 };

struct sample_event {
        /* The leader, then the load event if it is another one. */
        struct perf_event_attr attributes[EVENTS_MAX];
        size_t count;
        struct record_layout layout;
};

struct point_samples {
        const struct sample_event *event;
        int fds[EVENTS_MAX];
        struct ring *ring;
};

/* ---- the event ---- */

static bool is_on(const struct plan_group *group, int cpu)
{
        for (size_t i = 0; i < group->cpu_count; i++)
                if (group->cpus[i] == cpu)
                        return true;
        return group->cpu_count == 0;
}

/* Extracts the group of PLAN that samples loads on CPU. */
static int take_event(const struct plan *plan, int cpu, struct sample_event *event)
{
        for (size_t i = 0; i < plan->group_count; i++) {
                const struct plan_group *group = &plan->groups[i];
                const struct plan_event *last = &group->events[group->count - 1];
                if (last->use != PLAN_LOADS || group->count > EVENTS_MAX ||
                    !is_on(group, cpu))
                        continue;
                event->count = group->count;
                for (size_t k = 0; k < group->count; k++)
                        event->attributes[k] = group->events[k].attr;
                event->attributes[0].disabled = 1;
                return record_layout(&last->attr, &event->layout);
        }
        return -ENODEV;
}

int sample_event_find(int cpu, struct sample_event **event, struct diag *diag)
{
        const struct plan_options options = {.period = PERIOD,
                                             .ldlat_cycles = LDLAT_CYCLES};
        struct sample_event *new = calloc(1, sizeof(*new));
        struct machine machine;
        struct plan plan;
        if (!new)
                return diag_no_memory(diag);
        machine_read("", &machine);
        machine_ask_cpu(&machine);
        int rc = plan_try_pebs(&machine, &options, &plan, diag);
        if (rc == 0 && take_event(&plan, cpu, new) < 0)
                rc = diag_set(diag, -ENODEV,
                              "CPU %d does not sample the latency of loads", cpu);
        plan_free(&plan);
        machine_free(&machine);
        if (rc < 0)
                free(new);
        else
                *event = new;
        return rc;
}

void sample_event_free(struct sample_event *event)
{
        free(event);
}

/* ---- sampling ---- */

static void close_samples(struct point_samples *samples)
{
        ring_close(samples->ring);
        for (size_t i = 0; i < EVENTS_MAX; i++)
                if (samples->fds[i] >= 0)
                        close(samples->fds[i]);
        free(samples);
}

static int open_samples(struct point_samples *samples, struct diag *diag)
{
        const struct sample_event *event = samples->event;
        for (size_t i = 0; i < event->count; i++) {
                struct perf_event_attr attr = event->attributes[i];
                samples->fds[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1,
                                               samples->fds[0], PERF_FLAG_FD_CLOEXEC);
                if (samples->fds[i] < 0)
                        return diag_set(diag, -errno,
                                        "the kernel does not sample loads: %s; 'memlag "
                                        "doctor' tells why",
                                        strerror(errno));
        }
        return ring_open(samples->fds[event->count - 1], RING_PAGES, &samples->ring,
                         diag);
}

struct point_samples *point_samples_start(const struct sample_event *event,
                                          struct diag *diag)
{
        struct point_samples *new = calloc(1, sizeof(*new));
        if (!new) {
                diag_no_memory(diag);
                return NULL;
        }
        *new = (struct point_samples){.event = event, .fds = {-1, -1}};
        if (open_samples(new, diag) < 0) {
                close_samples(new);
                return NULL;
        }
        ioctl(new->fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
        return new;
}

/* Adds a sample if it is a DRAM load that counts. */
static void add_sample(const struct record_layout *layout,
                       const struct record_sample *sample, struct sampled_latency *sum)
{
        struct data_source_row source;
        uint64_t cycles =
            datasrc_weight(layout->sample_type, sample->weight).latency_cycles;
        if (cycles == 0 || !datasrc_decode(sample->data_src, &source) || source.locked ||
            strcmp(source.level, "DRAM") != 0 || strcmp(source.tlb, "hit") != 0)
                return;
        sum->cycles += (double)cycles;
        sum->samples++;
}

void point_samples_stop(struct point_samples *samples, struct sampled_latency *sum)
{
        const struct record_layout *layout = &samples->event->layout;
        const void *bytes;
        size_t size;
        ioctl(samples->fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
        while ((bytes = ring_next(samples->ring, &size))) {
                struct record record;
                if (record_decode(layout, bytes, size, &record) == 0 &&
                    record.kind == RECORD_SAMPLE)
                        add_sample(layout, &record.sample, sum);
        }
        close_samples(samples);
}
