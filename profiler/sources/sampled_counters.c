/* SPDX-License-Identifier: MIT */
/* Increments wait until their interval is over, because the sink expects a thread's
 * values in time order and one interval at once. */
#include "sampled_counters.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "keyed.h"
#include "perf/plan/event_table.h"
#include "perf/session/counting.h"

enum { NAME_MAX_BYTES = 128 };

/* A counted quantity, under one name; several events may count it. */
struct counter {
        char name[NAME_MAX_BYTES];
        const char *unit;
};

/* An event's original attributes and name, and its counter. */
struct known_event {
        const struct perf_event_attr *attr;
        size_t counter; /* index + 1; 0: none */
};

/* The values of an id when they were last read. */
struct last_read {
        uint64_t value;
        uint64_t time_enabled;
        uint64_t time_running;
};

struct gain {
        uint32_t pid;
        uint32_t tid;
        size_t counter;
        uint64_t value;
};

struct sampled_counters {
        struct sink *sink;
        struct perf_deliver *deliver;
        int64_t interval_ns;
        char platform[16]; /* of event_table.h; "": not known */
        struct counter *counters;
        struct event_counter *told; /* as many */
        size_t counter_count;
        struct known_event *events;
        size_t event_count;
        struct keyed reads;                /* struct last_read, by (tid or 0, id) */
        struct context_intern *gain_index; /* (counter, pid and tid) → index + 1 */
        struct gain *gains;                /* of the current interval */
        size_t gain_count, gain_capacity;
        int64_t start_ns; /* start of the interval of the gains */
        int64_t ended_ns; /* end of the delivered intervals */
};

struct sampled_counters *
sampled_counters_new(struct sink *sink, struct perf_deliver *deliver, int64_t interval_ns)
{
        struct sampled_counters *counters = calloc(1, sizeof(*counters));
        if (!counters)
                return NULL;
        counters->sink = sink;
        counters->deliver = deliver;
        counters->interval_ns = interval_ns;
        counters->gain_index = context_intern_new();
        if (keyed_open(&counters->reads, sizeof(struct last_read)) < 0 ||
            !counters->gain_index) {
                sampled_counters_free(counters);
                return NULL;
        }
        return counters;
}

void sampled_counters_free(struct sampled_counters *counters)
{
        if (!counters)
                return;
        keyed_close(&counters->reads);
        context_intern_free(counters->gain_index);
        free(counters->counters);
        free(counters->told);
        free(counters->events);
        free(counters->gains);
        free(counters);
}

void sampled_counters_cpu(struct sampled_counters *counters, const char *cpuid)
{
        long family, model, stepping;
        if (sscanf(cpuid, "GenuineIntel,%ld,%ld,%ld", &family, &model, &stepping) != 3)
                return;
        const struct event_platform *platform =
            event_platform_find(family, model, stepping);
        if (platform)
                snprintf(counters->platform, sizeof(counters->platform), "%s",
                         platform->name);
}

/* ---- the counted quantity of an event ---- */

/* Reduces "cpu_core/L1D_PEND_MISS.PENDING,name=x/u" and "l1d_pend_miss.pending:u" to the
 * event's name, in lower case. */
static void plain_name(const char *name, char *plain)
{
        const char *slash = strchr(name, '/');
        if (slash && slash != name)
                name = slash + 1;
        size_t length = strcspn(name, "/:,");
        if (length >= NAME_MAX_BYTES)
                length = NAME_MAX_BYTES - 1;
        for (size_t i = 0; i < length; i++)
                plain[i] = (char)tolower((unsigned char)name[i]);
        plain[length] = '\0';
}

/* Finds the table's event for an encoding; *ROLE is its use. */
static const struct event *encoded_event(const struct sampled_counters *counters,
                                         const struct sampled_event *event,
                                         enum event_role *role)
{
        const uint64_t encoding = ~UINT64_C(0x530000); /* without modes and enabling */
        bool e_core = event->name && strncmp(event->name, "cpu_atom", 8) == 0;
        if (!*counters->platform || event->attr->type < PERF_TYPE_RAW)
                return NULL;
        for (*role = ROLE_LOADS; *role < ROLE_DRAM_READ; ++*role) {
                const struct event *entry =
                    event_find(counters->platform, e_core ? CORE_E : CORE_P, *role, 0);
                if (entry && entry->config == (event->attr->config & encoding))
                        return entry;
        }
        return NULL;
}

static bool samples_memory(const struct perf_event_attr *attr, const char *name)
{
        static const char *const parts[] = {"mem-loads",    "mem-stores", "load_latency",
                                            "store_sample", "ldlat",      "ibs_op",
                                            "arm_spe"};
        for (size_t i = 0; name && i < sizeof(parts) / sizeof(parts[0]); i++)
                if (strcasestr(name, parts[i]))
                        return true;
        return attr->type == PERF_TYPE_RAW && attr->config1 != 0 &&
               attr->sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
}

/* Returns true for the kernel's generic event with this encoding. perf's synthetic
 * events from hardware traces (Arm SPE) have the encoding of cycles and a different
 * name. */
static bool is_generic(const struct sampled_event *event, uint64_t config,
                       const char *name)
{
        return event->attr->type == PERF_TYPE_HARDWARE &&
               (uint32_t)event->attr->config == config &&
               (!event->name || strcasestr(event->name, name));
}

/* Fills COUNTER in. Returns false if EVENT counts nothing of the CPU, such as a software
 * event, or samples memory and not time. */
static bool describe(const struct sampled_counters *counters,
                     const struct sampled_event *event, struct counter *counter)
{
        const struct perf_event_attr *attr = event->attr;
        enum event_role role;
        const struct event *entry = encoded_event(counters, event, &role);
        counter->unit = "events";
        if (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
            attr->type == PERF_TYPE_BREAKPOINT)
                return false;
        if (is_generic(event, PERF_COUNT_HW_CPU_CYCLES, "cycles")) {
                counter->unit = "cycles";
                snprintf(counter->name, NAME_MAX_BYTES, "cpu_clk_unhalted.thread");
        } else if (is_generic(event, PERF_COUNT_HW_INSTRUCTIONS, "instructions")) {
                snprintf(counter->name, NAME_MAX_BYTES, "inst_retired.any");
        } else if (entry && role > ROLE_AUXILIARY) {
                counter->unit = event_role_unit(role);
                snprintf(counter->name, NAME_MAX_BYTES, "%s", entry->name);
        } else if (entry || samples_memory(attr, event->name)) {
                return false;
        } else if (event->name) {
                plain_name(event->name, counter->name);
        } else {
                snprintf(counter->name, NAME_MAX_BYTES, "type %u config 0x%llx",
                         attr->type, (unsigned long long)attr->config);
        }
        return *counter->name;
}

static int place_counter(struct sampled_counters *counters, const struct counter *counter,
                         size_t *place, struct diag *diag)
{
        for (size_t i = 0; i < counters->counter_count; i++) {
                if (strcmp(counters->counters[i].name, counter->name) == 0) {
                        *place = i + 1;
                        return 0;
                }
        }
        struct counter *all =
            reallocarray(counters->counters, counters->counter_count + 1, sizeof(*all));
        if (all)
                counters->counters = all;
        struct event_counter *told =
            reallocarray(counters->told, counters->counter_count + 1, sizeof(*told));
        if (told)
                counters->told = told;
        if (!all || !told)
                return diag_no_memory(diag);
        all[counters->counter_count++] = *counter;
        *place = counters->counter_count;
        return 0;
}

/* The counter of EVENT, index + 1; 0: none. Recordings have few events. */
static int counter_of(struct sampled_counters *counters,
                      const struct sampled_event *event, size_t *place, struct diag *diag)
{
        for (size_t i = 0; i < counters->event_count; i++) {
                if (counters->events[i].attr == event->attr) {
                        *place = counters->events[i].counter;
                        return 0;
                }
        }
        struct known_event *all =
            reallocarray(counters->events, counters->event_count + 1, sizeof(*all));
        if (!all)
                return diag_no_memory(diag);
        counters->events = all;
        struct counter counter;
        *place = 0;
        int rc = describe(counters, event, &counter)
                     ? place_counter(counters, &counter, place, diag)
                     : 0;
        all[counters->event_count++] = (struct known_event){event->attr, *place};
        return rc;
}

/* ---- gains ---- */

static int add_gain(struct sampled_counters *counters, const struct record *record,
                    size_t counter, uint64_t value, struct diag *diag)
{
        uint64_t task = (uint64_t)record->id.pid << 32 | record->id.tid;
        if (value == 0)
                return 0;
        struct context_node *node =
            context_intern_place(counters->gain_index, counter, task);
        if (!node)
                return diag_no_memory(diag);
        /* Stale indices of earlier intervals refer to other threads' increments, or
         * beyond the end. */
        struct gain *gain = node->id && (size_t)node->id <= counters->gain_count
                                ? &counters->gains[node->id - 1]
                                : NULL;
        if (gain && gain->counter == counter && gain->pid == record->id.pid &&
            gain->tid == record->id.tid) {
                gain->value += value;
                return 0;
        }
        if (array_reserve(&counters->gains, &counters->gain_capacity,
                          counters->gain_count, sizeof(*counters->gains)) < 0)
                return diag_no_memory(diag);
        counters->gains[counters->gain_count++] =
            (struct gain){record->id.pid, record->id.tid, counter, value};
        node->id = (int64_t)counters->gain_count;
        return 0;
}

/* Computes the increment of an event since its last read from READ, scaled to its
 * enabled time. Each thread has separate values of an inherited event. */
static int gain_of_read(struct sampled_counters *counters, const struct record_read *read,
                        const struct record_value *value, uint64_t thread,
                        uint64_t *gained, struct diag *diag)
{
        bool new;
        struct last_read *last = keyed_place(&counters->reads, thread, value->id, &new);
        if (!last)
                return diag_no_memory(diag);
        uint64_t enabled = read->time_enabled - last->time_enabled;
        uint64_t running = read->time_running - last->time_running;
        *gained = value->value >= last->value ? value->value - last->value : 0;
        if (running < enabled)
                *gained = counting_scaled(*gained, enabled, running);
        *last = (struct last_read){value->value, read->time_enabled, read->time_running};
        return 0;
}

static int add_read(struct sampled_counters *counters, const struct sampled_event *event,
                    const struct record *record, sampled_event_find *find, void *context,
                    struct diag *diag)
{
        const struct record_read *read = &record->sample.read;
        uint64_t thread = event->attr->inherit ? (uint64_t)record->id.tid + 1 : 0;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < read->count; i++) {
                struct record_value value = record_read_value(read, i);
                struct sampled_event counted = *event;
                uint64_t gained = 0;
                size_t counter = 0;
                if (!read->has_id)
                        value.id = record->id.id;
                else if (!find(context, value.id, &counted))
                        continue;
                rc = counter_of(counters, &counted, &counter, diag);
                if (rc == 0 && counter)
                        rc = gain_of_read(counters, read, &value, thread, &gained, diag);
                if (rc == 0 && counter)
                        rc = add_gain(counters, record, counter, gained, diag);
        }
        return rc;
}

int sampled_counters_add(struct sampled_counters *counters, int64_t time_ns,
                         const struct sampled_event *event, const struct record *record,
                         sampled_event_find *find, void *context, struct diag *diag)
{
        if (!(record->id.present & PERF_SAMPLE_TID))
                return 0;
        if (counters->gain_count == 0) {
                counters->start_ns = time_ns - time_ns % counters->interval_ns;
                if (counters->start_ns < counters->ended_ns)
                        counters->start_ns = counters->ended_ns;
        }
        if (record->sample.read.count > 0)
                return add_read(counters, event, record, find, context, diag);
        size_t counter;
        int rc = counter_of(counters, event, &counter, diag);
        uint64_t period = event->attr->sample_type & PERF_SAMPLE_PERIOD
                              ? record->sample.period
                          : event->attr->freq ? 0
                                              : event->attr->sample_period;
        return rc == 0 && counter ? add_gain(counters, record, counter, period, diag)
                                  : rc;
}

/* ---- intervals ---- */

static int by_task(const void *left, const void *right)
{
        const struct gain *a = left, *b = right;
        if (a->pid != b->pid)
                return a->pid < b->pid ? -1 : 1;
        if (a->tid != b->tid)
                return a->tid < b->tid ? -1 : 1;
        return a->counter < b->counter ? -1 : a->counter > b->counter;
}

/* Delivers the increments of one task; *COUNT is their number. */
static int tell_task(struct sampled_counters *counters, const struct gain *gains,
                     size_t left, int64_t end_ns, size_t *count, struct diag *diag)
{
        struct event_counter *told = counters->told;
        size_t n = 0;
        while (n < left && gains[n].pid == gains[0].pid && gains[n].tid == gains[0].tid) {
                const struct counter *counter = &counters->counters[gains[n].counter - 1];
                told[n] =
                    (struct event_counter){counter->name, counter->unit, gains[n].value};
                n++;
        }
        *count = n;
        image_key image =
            perf_tasks_image(perf_deliver_tasks(counters->deliver), gains[0].pid);
        if (!image)
                return sink_loss(counters->sink, "counts of ended processes", n,
                                 "readings", diag);
        return sink_counters(counters->sink, counters->start_ns, end_ns, image,
                             gains[0].tid, told, n, diag);
}

static int end_interval(struct sampled_counters *counters, int64_t end_ns,
                        struct diag *diag)
{
        int rc = 0;
        if (counters->gain_count > 1)
                qsort(counters->gains, counters->gain_count, sizeof(*counters->gains),
                      by_task);
        for (size_t i = 0, count; rc == 0 && i < counters->gain_count; i += count)
                rc = tell_task(counters, counters->gains + i, counters->gain_count - i,
                               end_ns, &count, diag);
        counters->gain_count = 0;
        counters->ended_ns = end_ns;
        return rc;
}

int sampled_counters_advance(struct sampled_counters *counters, int64_t time_ns,
                             bool ends, struct diag *diag)
{
        int64_t end_ns = counters->start_ns - counters->start_ns % counters->interval_ns +
                         counters->interval_ns;
        if (counters->gain_count == 0)
                return 0;
        if (time_ns >= end_ns)
                return end_interval(counters, end_ns, diag);
        if (!ends)
                return 0;
        /* After a clock's jump forward, late records were counted there. */
        return end_interval(counters, time_ns > counters->start_ns ? time_ns : end_ns,
                            diag);
}
