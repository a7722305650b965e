/* SPDX-License-Identifier: MIT */
/* Converts perf records to events of source.h: samples, counters and losses.
 * perf_tasks.h tracks processes and mappings. */
#include "perf_deliver.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db.h"
#include "intern.h"
#include "keyed.h"
#include "perf/records/datasrc.h"
#include "user_stack.h"

#define CPUS_IMAGE    UINT64_MAX /* the process that CPUs are threads of */
#define FIRST_CONTEXT ((uint64_t)PERF_CONTEXT_MAX) /* the markers are from here on */

/* CPUs store latencies in 16 bits, POWER up to 127 * 2^14; and no memory access takes
 * milliseconds. */
#define LATENCY_MOST_CYCLES (INT64_C(1) << 24)
/* The most that a kernel can be made for (MAXSMP, NR_CPUS). */
#define CPUS_MOST 8192

struct throttle {
        int64_t since_ns;
        bool active;
};

struct perf_deliver {
        struct sink *sink;
        struct user_stacks *user_stacks; /* NULL: copied stacks are left out */
        bool has_retire_latency;
        perf_deliver_amend amend; /* NULL: samples stay as they are */
        void *amend_context;
        struct perf_tasks *tasks;
        struct keyed throttles; /* by (event id, stream id) */
        bool cpus_begun;
        struct context_intern *cpu_index; /* (0, CPU) → 1 */
        uint64_t *frames;                 /* of the current sample */
        uint64_t *cfas;                   /* of FRAMES; 0: not known */
        size_t frame_capacity;            /* of both */
};

struct perf_deliver *perf_deliver_new(struct sink *sink)
{
        struct perf_deliver *deliver = calloc(1, sizeof(*deliver));
        if (!deliver)
                return NULL;
        deliver->sink = sink;
        deliver->tasks = perf_tasks_new(sink);
        deliver->cpu_index = context_intern_new();
        if (keyed_open(&deliver->throttles, sizeof(struct throttle)) < 0 ||
            !deliver->tasks || !deliver->cpu_index) {
                perf_deliver_free(deliver);
                return NULL;
        }
        return deliver;
}

void perf_deliver_free(struct perf_deliver *deliver)
{
        if (!deliver)
                return;
        perf_tasks_free(deliver->tasks);
        keyed_close(&deliver->throttles);
        context_intern_free(deliver->cpu_index);
        free(deliver->frames);
        free(deliver->cfas);
        free(deliver);
}

void perf_deliver_set_user_stacks(struct perf_deliver *deliver,
                                  struct user_stacks *stacks)
{
        deliver->user_stacks = stacks;
        perf_tasks_set_user_stacks(deliver->tasks, stacks);
}

struct perf_tasks *perf_deliver_tasks(const struct perf_deliver *deliver)
{
        return deliver->tasks;
}

void perf_deliver_set_retire_latency(struct perf_deliver *deliver)
{
        deliver->has_retire_latency = true;
}

void perf_deliver_set_amend(struct perf_deliver *deliver, perf_deliver_amend amend,
                            void *context)
{
        deliver->amend = amend;
        deliver->amend_context = context;
}

/* ---- counters ---- */

/* At a CPU's first values, begins its thread, and the process of all CPUs. */
static int begin_cpu(struct perf_deliver *deliver, uint32_t cpu, int64_t start_ns,
                     struct diag *diag)
{
        struct context_node *node = context_intern_place(deliver->cpu_index, 0, cpu);
        if (!node)
                return diag_no_memory(diag);
        if (node->id)
                return 0;
        int rc = 0;
        if (!deliver->cpus_begun) {
                struct event_process event = {.image = CPUS_IMAGE,
                                              .executable = "[CPUs]"};
                deliver->cpus_begun = true;
                rc = sink_process(deliver->sink, start_ns, &event, diag);
        }
        node->id = 1;
        char name[32];
        snprintf(name, sizeof(name), "CPU %u", cpu);
        return rc == 0 ? sink_thread(deliver->sink, start_ns, CPUS_IMAGE, cpu, name, diag)
                       : rc;
}

int perf_deliver_cpu_counters(struct perf_deliver *deliver, int64_t start_ns,
                              int64_t end_ns, uint32_t cpu,
                              const struct event_counter *counters, size_t count,
                              struct diag *diag)
{
        int rc = begin_cpu(deliver, cpu, start_ns, diag);
        return rc == 0 ? sink_counters(deliver->sink, start_ns, end_ns, CPUS_IMAGE, cpu,
                                       counters, count, diag)
                       : rc;
}

/* ---- the heap tracker ---- */

/* Frames between the clock function in the vdso and the tracker, through the C
 * library. */
enum { CLOCK_CALLERS = 3 };

/* Returns true if the tracker was running: its code, or the clock function that it had
 * called. */
static bool is_of_tracker(const struct perf_process *process,
                          const struct event_sample *event)
{
        if (perf_process_in_tracker(process, event->ip))
                return true;
        if (!perf_process_has_tracker(process) ||
            !perf_process_in_vdso(process, event->ip))
                return false;
        for (size_t i = 1; i < event->depth && i <= CLOCK_CALLERS; i++)
                if (perf_process_in_tracker(process, event->frames[i]))
                        return true;
        return false;
}

/* Removes the tracker's functions from the call stack. Their callees then appear as
 * callees of the program, as in an untracked run. */
static void skip_tracker(struct perf_deliver *deliver, const struct perf_process *process,
                         struct event_sample *event)
{
        size_t kept = 0;
        if (!perf_process_has_tracker(process))
                return;
        for (size_t i = 0; i < event->depth; i++) {
                if (perf_process_in_tracker(process, deliver->frames[i]))
                        continue;
                deliver->cfas[kept] = deliver->cfas[i];
                deliver->frames[kept++] = deliver->frames[i];
        }
        event->depth = kept;
}

/* ---- samples ---- */

/* Unwinds the copied stack, and appends its frames after the DEPTH known frames. Returns
 * the new depth. */
static size_t add_user_frames(struct perf_deliver *deliver,
                              const struct record_sample *sample,
                              const struct event_sample *event, size_t depth)
{
        uint64_t *frames = deliver->frames + depth, *cfas = deliver->cfas + depth;
        size_t count =
            user_stacks_unwind(deliver->user_stacks, event->image, sample, frames, cfas);
        if (count == 0)
                return 0;
        if (depth > 1 || frames[0] != deliver->frames[0]) {
                frames[0]++; /* as in set_frames */
                return count;
        }
        memmove(frames, frames + 1, (count - 1) * sizeof(*frames)); /* ip is there */
        memmove(cfas - 1, cfas, count * sizeof(*cfas));
        return count - 1;
}

/* Stores the call stack without context markers, beginning with IP, in deliver->frames.
 * The user IP at kernel entry is an instruction address, not a return address. Therefore
 * 1 is added: consumers subtract 1 from each caller's address. */
static int set_frames(struct perf_deliver *deliver, const struct record_sample *sample,
                      struct event_sample *event, struct diag *diag)
{
        bool copied = deliver->user_stacks && sample->user_stack_bytes;
        if (sample->callchain_count == 0 && !copied)
                return 0;
        size_t room = sample->callchain_count + 1 + (copied ? USER_STACK_FRAMES_MAX : 0);
        if (room > deliver->frame_capacity) {
                uint64_t *frames = reallocarray(deliver->frames, room, sizeof(*frames));
                if (!frames)
                        return diag_no_memory(diag);
                deliver->frames = frames;
                uint64_t *cfas = reallocarray(deliver->cfas, room, sizeof(*cfas));
                if (!cfas)
                        return diag_no_memory(diag);
                deliver->cfas = cfas;
                deliver->frame_capacity = room;
        }
        size_t depth = 0;
        bool in_kernel = false, interrupted = false;
        memset(deliver->cfas, 0, room * sizeof(*deliver->cfas));
        deliver->frames[depth++] = sample->ip;
        for (size_t i = 0; i < sample->callchain_count; i++) {
                uint64_t ip = sample->callchain[i];
                bool repeated = depth == 1 && ip == sample->ip;
                if (ip >= FIRST_CONTEXT) {
                        interrupted = in_kernel && ip == PERF_CONTEXT_USER;
                        in_kernel = ip == PERF_CONTEXT_KERNEL;
                        continue;
                }
                if (!repeated)
                        deliver->frames[depth++] = ip + interrupted;
                interrupted = false;
        }
        if (copied)
                depth += add_user_frames(deliver, sample, event, depth);
        event->frames = deliver->frames;
        event->depth = depth;
        return 0;
}

/* Leaf functions use that much below the stack pointer (System V ABI, 3.2.2). */
enum { RED_ZONE_BYTES = 128 };

/* A frame extends to its CFA. On one stack the CFAs of callers rise; a falling CFA means
 * that a signal handler runs on an alternate stack. */
static void set_stack_frame(const struct perf_deliver *deliver, uint64_t stack_pointer,
                            struct event_sample *event)
{
        if (!event->has_addr || event->addr + RED_ZONE_BYTES < stack_pointer)
                return;
        uint64_t below = stack_pointer;
        for (size_t i = 0; i < event->depth && deliver->cfas[i] > below; i++) {
                below = deliver->cfas[i];
                if (event->addr >= below)
                        continue;
                event->stack_frame = (uint32_t)i + 1;
                event->cfa_offset_bytes = (int64_t)(event->addr - deliver->cfas[i]);
                return;
        }
}

static void set_memory(const struct perf_deliver *deliver,
                       const struct perf_stream *stream,
                       const struct record_sample *sample, struct event_sample *event,
                       struct data_source_row *row)
{
        uint64_t type = stream->layout.sample_type;
        if (type & PERF_SAMPLE_DATA_SRC) {
                datasrc_decode(sample->data_src, row);
                event->data_source = row;
        }
        event->addr = sample->addr;
        event->has_addr = type & PERF_SAMPLE_ADDR && sample->addr != 0;
        event->phys_addr = sample->phys_addr;
        event->page_bytes =
            sample->data_page_size <= INT64_MAX ? (int64_t)sample->data_page_size : 0;
        event->latency_cycles = -1;
        event->retire_latency_cycles = -1;
        if (!(type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)))
                return;
        struct datasrc_weight weight = datasrc_weight(type, sample->weight);
        uint64_t latency = weight.latency_cycles;
        if (latency > 0)
                event->latency_cycles =
                    latency <= INT64_MAX ? (int64_t)latency : INT64_MAX;
        /* Stores are sampled with a separate period. */
        if (deliver->has_retire_latency && type & PERF_SAMPLE_WEIGHT_STRUCT &&
            event->data_source && strcmp(row->op, "load") == 0)
                event->retire_latency_cycles = weight.retire_latency_cycles;
}

/* Drops physically impossible values. */
static int leave_out_impossible(struct perf_deliver *deliver, struct event_sample *event,
                                struct diag *diag)
{
        bool latency = event->latency_cycles > LATENCY_MOST_CYCLES;
        bool cpu = event->cpu < -1 || event->cpu >= CPUS_MOST;
        if (latency)
                event->latency_cycles = -1;
        if (cpu)
                event->cpu = -1;
        int rc = sink_loss(deliver->sink, "samples of an impossible latency", latency,
                           "samples", diag);
        return rc == 0 ? sink_loss(deliver->sink, "samples on an impossible CPU", cpu,
                                   "samples", diag)
                       : rc;
}

/* Valid for 64-bit machines; lower addresses may belong to a 32-bit kernel or to a
 * process. */
static bool is_kernel_addr(uint64_t ip)
{
        return ip >> 63;
}

static int tell_kernel_mappings(struct perf_deliver *deliver,
                                struct perf_process *process, int64_t time_ns,
                                const struct event_sample *event, uint16_t misc,
                                struct diag *diag)
{
        bool kernel_mode =
            (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        int rc = kernel_mode || is_kernel_addr(event->ip)
                     ? perf_tasks_tell_kernel(deliver->tasks, process, time_ns, event->ip,
                                              diag)
                     : 0;
        for (size_t i = 1; rc == 0 && i < event->depth; i++)
                if (is_kernel_addr(event->frames[i]))
                        rc = perf_tasks_tell_kernel(deliver->tasks, process, time_ns,
                                                    event->frames[i], diag);
        return rc;
}

static int deliver_sample(struct perf_deliver *deliver, int64_t time_ns,
                          const struct perf_stream *stream, const struct record *record,
                          struct diag *diag)
{
        const struct record_sample *sample = &record->sample;
        bool known = record->id.present & PERF_SAMPLE_TID;
        uint32_t pid = known ? record->id.pid : PERF_NO_TASK;
        struct perf_process *process = NULL;
        int rc = sink_loss(deliver->sink, "samples of unknown threads",
                           pid == PERF_NO_TASK, "samples", diag);
        if (rc == 0)
                rc = perf_tasks_running(deliver->tasks, pid, time_ns, &process, diag);
        if (rc < 0)
                return rc;
        struct data_source_row row;
        struct event_sample event = {
            .image = perf_process_image(process),
            .tid = known ? record->id.tid : PERF_NO_TASK,
            .cpu = record->id.present & PERF_SAMPLE_CPU ? (int32_t)record->id.cpu : -1,
            .ip = sample->ip,
        };
        set_memory(deliver, stream, sample, &event, &row);
        rc = set_frames(deliver, sample, &event, diag);
        if (rc == 0 && is_of_tracker(process, &event))
                return sink_loss(deliver->sink, "samples in the heap tracker", 1,
                                 "samples", diag);
        if (rc == 0)
                rc = leave_out_impossible(deliver, &event, diag);
        if (rc == 0)
                skip_tracker(deliver, process, &event);
        if (rc == 0 && deliver->amend)
                rc = deliver->amend(deliver->amend_context, pid, sample, &event, diag);
        if (event.depth && event.frames == deliver->frames)
                deliver->frames[0] = event.ip;
        uint64_t stack_pointer;
        if (rc == 0 && user_stack_pointer(sample, &stack_pointer)) {
                set_stack_frame(deliver, stack_pointer, &event);
                rc = sink_stack_in_use(deliver->sink, time_ns, event.image, event.tid,
                                       stack_pointer, diag);
        }
        if (rc == 0)
                rc = tell_kernel_mappings(deliver, process, time_ns, &event, record->misc,
                                          diag);
        return rc == 0 ? sink_sample(deliver->sink, time_ns, &event, diag) : rc;
}

/* ---- losses ---- */

static int deliver_throttle(struct perf_deliver *deliver, int64_t time_ns,
                            const struct record *record, struct diag *diag)
{
        const struct record_throttle *event = &record->throttle;
        bool new;
        struct throttle *throttle =
            keyed_place(&deliver->throttles, event->id, event->stream_id, &new);
        if (!throttle)
                return diag_no_memory(diag);
        bool was_active = throttle->active;
        throttle->active = record->kind == RECORD_THROTTLE;
        if (throttle->active) {
                throttle->since_ns = was_active ? throttle->since_ns : time_ns;
                return sink_loss(deliver->sink, "times throttled", 1, "times", diag);
        }
        if (!was_active || time_ns <= throttle->since_ns)
                return 0;
        return sink_loss(deliver->sink, "throttled time",
                         (uint64_t)(time_ns - throttle->since_ns), "ns", diag);
}

int perf_deliver_record(struct perf_deliver *deliver, int64_t time_ns,
                        const struct perf_stream *stream, const struct record *record,
                        struct diag *diag)
{
        switch (record->kind) {
        case RECORD_SAMPLE:
                return deliver_sample(deliver, time_ns, stream, record, diag);
        case RECORD_MMAP:
        case RECORD_COMM:
        case RECORD_FORK:
        case RECORD_EXIT:
                return perf_tasks_record(deliver->tasks, time_ns, record, diag);
        case RECORD_LOST:
                return sink_loss(deliver->sink, "records lost", record->lost.count,
                                 "records", diag);
        case RECORD_LOST_SAMPLES:
                return sink_loss(deliver->sink, "samples lost by the CPU",
                                 record->lost.count, "records", diag);
        case RECORD_THROTTLE:
        case RECORD_UNTHROTTLE:
                return deliver_throttle(deliver, time_ns, record, diag);
        case RECORD_OTHER:
                return 0; /* known, and not needed */
        case RECORD_UNKNOWN:
                return sink_loss(deliver->sink, "records of unknown types", 1, "entries",
                                 diag);
        }
        return 0;
}
