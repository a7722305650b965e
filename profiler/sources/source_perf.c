/* SPDX-License-Identifier: MIT */
/* Runs a session of perf events for a plan, and delivers its records to the sink. Knows
 * the recorded tasks and CPUs, but neither the choice of events nor the database. */
#include "source_perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap_transport.h"
#include "intern.h"
#include "perf/facts/cpu_list.h"
#include "perf/records/clock.h"
#include "perf/session/session.h"
#include "perf_existing.h"
#include "user_stack.h"

/* Sampling periods of one event. */
struct periods {
        uint64_t first;
        uint64_t samples;
        bool differ;
};

struct source {
        struct source_options options;
        struct plan plan;
        void *context; /* context of amend */
        void (*free_context)(void *context);
        struct sink *sink;
        struct perf_deliver *deliver;
        struct session *session;         /* NULL before source_perf_attach */
        struct user_stacks *user_stacks; /* NULL: samples have no stack copy */
        struct heap_transport *heap;     /* NULL: allocations are not followed */
        struct perf_stream *streams;
        struct periods *periods;            /* of each stream */
        struct context_intern *stacks_told; /* (0, image) → 1 */
        int64_t start_ns;                   /* CLOCK_MONOTONIC */
};

int source_perf_open(const struct source_options *options, struct sink *sink,
                     struct source_perf_setup *setup, struct source **result,
                     struct diag *diag)
{
        struct source *source = calloc(1, sizeof(*source));
        if (!source) {
                plan_free(&setup->plan);
                if (setup->context)
                        setup->free_context(setup->context);
                return diag_no_memory(diag);
        }
        source->options = *options;
        source->plan = setup->plan;
        source->context = setup->context;
        source->free_context = setup->free_context;
        source->sink = sink;
        source->deliver = perf_deliver_new(sink);
        source->stacks_told = context_intern_new();
        bool copies = options->call_graph == CALL_GRAPH_DWARF;
        source->user_stacks = copies ? user_stacks_new(NULL, true) : NULL;
        if (!source->deliver || !source->stacks_told ||
            (copies && !source->user_stacks)) {
                source_perf_close(source);
                return diag_no_memory(diag);
        }
        perf_deliver_set_user_stacks(source->deliver, source->user_stacks);
        if (setup->has_retire_latency)
                perf_deliver_set_retire_latency(source->deliver);
        perf_deliver_set_amend(source->deliver, setup->amend, setup->context);
        *result = source;
        return 0;
}

void source_perf_close(struct source *source)
{
        if (!source)
                return;
        session_close(source->session);
        heap_transport_close(source->heap);
        perf_deliver_free(source->deliver);
        user_stacks_free(source->user_stacks);
        context_intern_free(source->stacks_told);
        if (source->context)
                source->free_context(source->context);
        plan_free(&source->plan);
        free(source->streams);
        free(source->periods);
        free(source);
}

/* ---- reading ---- */

static int64_t run_time(const struct source *source, int64_t time_ns)
{
        return time_ns > source->start_ns ? time_ns - source->start_ns : 0;
}

/* The kernel reports all mappings of a new image but its stack. */
static int tell_stack(struct source *source, int64_t time_ns, uint32_t pid,
                      struct diag *diag)
{
        image_key image = perf_tasks_image(perf_deliver_tasks(source->deliver), pid);
        if (image == 0)
                return 0;
        struct context_node *node = context_intern_place(source->stacks_told, 0, image);
        if (!node)
                return diag_no_memory(diag);
        if (node->id)
                return 0;
        node->id = 1;
        return perf_existing_stack(perf_deliver_tasks(source->deliver), time_ns,
                                   (pid_t)pid, diag);
}

/* With a frequency, the kernel varies the period: samples represent different numbers of
 * loads. */
static void note_period(struct periods *periods, const struct record_sample *sample)
{
        if (periods->samples++ == 0)
                periods->first = sample->period;
        periods->differ |= sample->period != periods->first;
}

static int take_record(void *context, int64_t time_ns,
                       const struct session_stream *stream, const struct record *record,
                       struct diag *diag)
{
        struct source *source = context;
        int64_t run_ns = run_time(source, time_ns);
        if (record->kind == RECORD_SAMPLE && stream->event &&
            stream->event->use == PLAN_AUXILIARY)
                return 0;
        struct perf_stream *known = &source->streams[stream->index];
        known->layout = stream->layout;
        if (record->kind == RECORD_SAMPLE)
                note_period(&source->periods[stream->index], &record->sample);
        int rc = perf_deliver_record(source->deliver, run_ns, known, record, diag);
        if (rc == 0 && record->kind == RECORD_MMAP && record->mmap.path[0] == '/')
                rc = tell_stack(source, run_ns, record->mmap.pid, diag);
        return rc;
}

/* Delivers an allocation from the target's tracker. */
static int deliver_heap_event(struct source *source, int64_t time_ns,
                              const struct heap_event *event, struct diag *diag)
{
        if (event->kind == HEAP_EVENT_PROCESS)
                return 0; /* perf's own records contain it */
        image_key image =
            perf_tasks_image(perf_deliver_tasks(source->deliver), event->pid);
        if (image == 0)
                return sink_loss(source->sink, "heap events of unknown processes", 1,
                                 "events", diag);
        return heap_event_deliver(source->sink, run_time(source, time_ns), image, event,
                                  diag);
}

static int take_heap_event(void *context, int64_t time_ns, const void *bytes, size_t size,
                           struct diag *diag)
{
        struct source *source = context;
        struct heap_event event;
        if (size != sizeof(event))
                return 0;
        memcpy(&event, bytes, sizeof(event));
        int rc = deliver_heap_event(source, time_ns, &event, diag);
        heap_event_release(source->heap, &event);
        return rc;
}

static int take_damage(void *context, uint64_t count, const char *unit, struct diag *diag)
{
        const struct source *source = context;
        const char *kind =
            strcmp(unit, "records") == 0 ? "damaged records" : "damaged bytes";
        return sink_loss(source->sink, kind, count, unit, diag);
}

enum { GAINS_AT_ONCE = 64 };

static int take_counters(void *context, int64_t end_ns, int cpu,
                         const struct counting_gain *gains, size_t count,
                         uint64_t missed_ns, struct diag *diag)
{
        struct source *source = context;
        int rc = sink_loss(source->sink, "multiplexed time", missed_ns, "ns", diag);
        for (size_t from = 0; rc == 0 && from < count; from += GAINS_AT_ONCE) {
                struct event_counter counters[GAINS_AT_ONCE];
                size_t some = count - from < GAINS_AT_ONCE ? count - from : GAINS_AT_ONCE;
                for (size_t i = 0; i < some; i++)
                        counters[i] = (struct event_counter){gains[from + i].name,
                                                             gains[from + i].unit,
                                                             gains[from + i].value};
                rc = perf_deliver_cpu_counters(
                    source->deliver, run_time(source, gains[from].start_ns),
                    run_time(source, end_ns), (uint32_t)cpu, counters, some, diag);
        }
        return rc;
}

/* ---- where to record ---- */

/* The CPUs that are online, in *CPUS, which the caller frees. */
static int online_cpus(int **cpus, size_t *count, struct diag *diag)
{
        char text[4096] = "";
        FILE *file = fopen("/sys/devices/system/cpu/online", "re");
        if (file) {
                if (!fgets(text, sizeof(text), file))
                        text[0] = '\0';
                fclose(file);
        }
        int rc = cpu_list_parse(text, cpus, count);
        if (rc == 0 && *count > 0)
                return 0;
        return diag_set(diag, rc ? rc : -ENOENT,
                        "cannot learn which CPUs are online from "
                        "/sys/devices/system/cpu/online");
}

/* The kernel's error does not name the offline CPU. */
static int check_online(const char *chosen, const int *cpus, size_t count,
                        struct diag *diag)
{
        int *online = NULL;
        size_t online_count, at = 0;
        int rc = online_cpus(&online, &online_count, diag);
        for (size_t i = 0; rc == 0 && i < count; i++) {
                while (at < online_count && online[at] < cpus[i])
                        at++;
                if (at == online_count || online[at] != cpus[i])
                        rc = diag_set(diag, -ENODEV,
                                      "-C %s: CPU %d is not online here; "
                                      "/sys/devices/system/cpu/online tells which are",
                                      chosen, cpus[i]);
        }
        free(online);
        return rc;
}

static int chosen_cpus(const struct source_options *options, int **cpus, size_t *count,
                       struct diag *diag)
{
        if (!options->cpus)
                return online_cpus(cpus, count, diag);
        int rc = cpu_list_parse(options->cpus, cpus, count);
        if (rc == 0 && *count > 0)
                return check_online(options->cpus, *cpus, *count, diag);
        return diag_set(diag, rc ? rc : -EINVAL, "'%s' is no list of CPUs, such as 0-3,8",
                        options->cpus);
}

static bool is_system_wide(const struct source_options *options)
{
        return options->system_wide || options->cpus;
}

/* Of opening events on a process that has new threads all the time. */
enum { OPENING_TRIES_MAX = 100 };

/* ---- the session ---- */

/* Counts the tasks in NOW, of size COUNT, that are absent from BEFORE; both ascend. */
static size_t count_new(const pid_t *now, size_t count, const pid_t *before,
                        size_t before_count)
{
        size_t new = 0;
        for (size_t i = 0, j = 0; i < count; i++) {
                while (j < before_count && before[j] < now[i])
                        j++;
                new += j == before_count || before[j] != now[i];
        }
        return new;
}

/* Opens OPTIONS on the threads of process PID. *BORN: count of threads that began
 * meanwhile; they may have inherited all, some or no events. */
static int open_on_threads(struct source *source, struct session_options *options,
                           pid_t pid, size_t *born, struct diag *diag)
{
        pid_t *tasks, *later;
        size_t later_count;
        int rc = perf_existing_threads(pid, &tasks, &options->task_count, diag);
        if (rc < 0)
                return rc;
        options->tasks = tasks;
        rc = session_open(options, &source->session, diag);
        if (rc == 0)
                rc = perf_existing_threads(pid, &later, &later_count, diag);
        if (rc == 0) {
                *born = count_new(later, later_count, tasks, options->task_count);
                free(later);
        }
        free(tasks);
        return rc;
}

/* Repeats until no thread begins meanwhile: then all threads have the events, or inherit
 * them. */
static int open_on_process(struct source *source, struct session_options *options,
                           struct diag *diag)
{
        size_t born = 0;
        for (int tries = 0; tries < OPENING_TRIES_MAX; tries++) {
                session_close(source->session);
                source->session = NULL;
                int rc =
                    open_on_threads(source, options, source->options.pid, &born, diag);
                if (rc < 0 || born == 0)
                        return rc;
        }
        return sink_loss(source->sink, "threads born while events were opened", born,
                         "threads", diag);
}

static int open_session(struct source *source, pid_t target, struct diag *diag)
{
        const struct source_options *options = &source->options;
        int *cpus = NULL;
        struct session_options session = {
            .plan = &source->plan,
            .tasks = &target,
            .task_count = is_system_wide(options) ? 0 : 1,
            .on_exec = !is_system_wide(options) && !options->pid,
            .ring_pages = options->ring_pages,
            .interval_ns = options->interval_ns,
            .handler = {source, take_record, take_heap_event, take_damage, take_counters},
        };
        int rc = chosen_cpus(options, &cpus, &session.cpu_count, diag);
        session.cpus = cpus;
        if (rc == 0)
                rc = options->pid ? open_on_process(source, &session, diag)
                                  : session_open(&session, &source->session, diag);
        if (rc == 0 && source->heap)
                rc = session_watch(source->session, heap_transport_poll_fd(source->heap),
                                   diag);
        free(cpus);
        return rc;
}

static int tell_what_exists(struct source *source, struct diag *diag)
{
        if (source->options.pid)
                return perf_existing_process(perf_deliver_tasks(source->deliver), 0,
                                             source->options.pid, diag);
        return is_system_wide(&source->options)
                   ? perf_existing_all(perf_deliver_tasks(source->deliver), 0, diag)
                   : 0;
}

static int tell_rings(struct source *source, struct diag *diag)
{
        return sink_machine(source->sink, "ring_pages",
                            (double)session_ring_pages(source->session), "pages",
                            source->options.ring_pages
                                ? "--mmap-pages"
                                : "what kernel.perf_event_mlock_kb allows",
                            diag);
}

struct loss {
        const char *kind;
        uint64_t count;
        const char *unit;
};

static int note_losses(struct source *source, const struct loss *losses, size_t count,
                       struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < count; i++)
                rc = sink_loss(source->sink, losses[i].kind, losses[i].count,
                               losses[i].unit, diag);
        return rc;
}

static int note_what_is_missing(struct source *source, struct diag *diag)
{
        const struct loss losses[] = {
            {"counter groups not permitted", session_groups_refused(source->session),
             "groups"},
            {"counter groups unknown to the kernel",
             session_groups_unknown(source->session), "groups"},
        };
        if (session_forgoes_large_pebs(source->session))
                diag_printf("record",
                            "each sample interrupts the program, since the kernel does "
                            "not tell how its clock for samples relates to others");
        return note_losses(source, losses, sizeof(losses) / sizeof(losses[0]), diag);
}

int source_perf_attach(struct source *source, pid_t target, struct diag *diag)
{
        source->start_ns = perf_clock_monotonic();
        int rc = open_session(source, target, diag);
        if (rc < 0)
                return rc;
        source->streams =
            calloc(session_streams(source->session), sizeof(*source->streams));
        source->periods =
            calloc(session_streams(source->session), sizeof(*source->periods));
        if (!source->streams || !source->periods)
                return diag_no_memory(diag);
        bool on_exec = !is_system_wide(&source->options) && !source->options.pid;
        if (!on_exec)
                rc = session_begin(source->session, diag);
        /* After the start: events in between are delivered twice, but not missed. */
        if (rc == 0)
                rc = tell_what_exists(source, diag);
        if (rc == 0)
                rc = tell_rings(source, diag);
        return rc == 0 ? note_what_is_missing(source, diag) : rc;
}

int source_perf_start(struct source *source, char ***argv, char ***envp,
                      struct diag *diag)
{
        if (!*argv || !source->options.heap)
                return 0;
        int rc = heap_transport_open(source->options.call_graph != CALL_GRAPH_NONE,
                                     &source->heap, diag);
        if (rc < 0)
                return rc;
        perf_tasks_set_tracker(perf_deliver_tasks(source->deliver),
                               heap_transport_tracker(source->heap));
        return heap_transport_environment(source->heap, (*argv)[0], *envp, envp, diag);
}

int source_perf_poll_fd(struct source *source)
{
        return session_fd(source->session);
}

/* State for merging heap events into perf's records. */
struct heap_drain {
        struct source *source;
        struct diag *diag;
};

static int queue_heap_event(void *context, const struct heap_event *event)
{
        const struct heap_drain *drain = context;
        return session_add(drain->source->session, (int64_t)event->time_ns, event,
                           sizeof(*event), drain->diag);
}

static int drain_heap(struct source *source, struct diag *diag)
{
        struct heap_drain drain = {source, diag};
        return source->heap
                   ? heap_transport_drain(source->heap, queue_heap_event, &drain, diag)
                   : 0;
}

int source_perf_drain(struct source *source, struct diag *diag)
{
        int rc = drain_heap(source, diag);
        bool whole = !source->heap || !heap_transport_awaits(source->heap);
        return rc == 0 ? session_drain(source->session, whole, diag) : rc;
}

bool source_perf_all_ended(struct source *source)
{
        return session_ended(source->session);
}

static int note_heap_losses(struct source *source, struct diag *diag)
{
        if (!source->heap)
                return 0;
        struct heap_transport_losses heap = heap_transport_losses(source->heap);
        const struct loss losses[] = {
            {"processes with damaged heap records", heap.damaged, "processes"},
            {"processes beyond the heap's memory file", heap.beyond_capacity,
             "processes"},
            {"processes whose heap was not followed to the end", heap.cut_off,
             "processes"},
            {"programs that cannot take the heap tracker", heap.refused, "programs"},
            {"allocating calls not told of", heap.untold, "calls"},
        };
        return note_losses(source, losses, sizeof(losses) / sizeof(losses[0]), diag);
}

static int note_session_losses(struct source *source, uint64_t lost, struct diag *diag)
{
        const struct session *session = source->session;
        uint64_t unequal = 0;
        for (size_t i = 0; i < session_streams(session); i++)
                if (source->periods[i].differ)
                        unequal += source->periods[i].samples;
        const struct loss losses[] = {
            {"samples of unequal periods, counted alike", unequal, "samples"},
            {"records lost", lost, "records"},
            {"records out of order", session_late(session), "entries"},
            {"time without sampling of loads", session_samples_missed_ns(session), "ns"},
            {"groups that lost their counters", session_groups_stopped(session),
             "groups"},
        };
        return note_losses(source, losses, sizeof(losses) / sizeof(losses[0]), diag);
}

int source_perf_stop(struct source *source, struct diag *diag)
{
        uint64_t lost = 0;
        int rc = drain_heap(source, diag);
        if (rc == 0)
                rc = session_end(source->session, &lost, diag);
        if (rc == 0)
                rc = note_session_losses(source, lost, diag);
        if (rc == 0)
                rc = note_heap_losses(source, diag);
        if (rc == 0 && !source->options.pid && !is_system_wide(&source->options))
                rc = sink_loss(source->sink, LOSS_LEFT_RUNNING,
                               perf_tasks_alive(perf_deliver_tasks(source->deliver)),
                               "processes", diag);
        return rc == 0 ? perf_tasks_finish(perf_deliver_tasks(source->deliver), diag)
                       : rc;
}
