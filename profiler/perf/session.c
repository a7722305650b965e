/* SPDX-License-Identifier: MIT */
/* A recording session: event descriptors, one ring for each CPU, the queue that orders
 * their records, and the timer of the counters. */
#include "session.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "intern.h"
#include "order.h"
#include "ring.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4)
#endif

/* Waiting for order, of all rings together. */
#define ORDER_BYTES       (64u << 20)
#define RING_PAGES_MAX    1024 /* when the user does not say */
#define MLOCK_KB_UNKNOWN  516  /* the kernel's default */
#define RECORDS_A_RELEASE 256

struct event {
        int fd;
        size_t group;   /* of the plan; SIZE_MAX: it tells of tasks and mappings */
        bool leads;     /* its group, and is switched on and off for all of it */
        bool writes;    /* records into the CPU's ring */
        bool grouped;   /* is read with all of its group */
        size_t opening; /* index, of leaders */
        size_t counted; /* likewise: what counting calls it */
};

struct cpu {
        int number;
        struct ring *ring; /* NULL: none yet */
        int ring_fd;       /* the event that the ring belongs to */
};

/* The plan's groups as they are open for one task, or for all, on one CPU. */
struct opening {
        size_t counted;    /* index of the CPU's counters */
        int tracking_fd;   /* runs whenever the task is there; -1: whatever runs there */
        uint64_t there_ns; /* how long that was, as read last */
};

/* The counters of one CPU. */
struct counted {
        int cpu;
        struct counting *counting;
};

struct session {
        struct session_options options;
        struct cpu *cpus;
        size_t cpu_count;
        struct event *events;
        size_t event_count, event_capacity;
        struct opening *openings;
        size_t opening_count, opening_capacity;
        struct counted *counted;
        size_t counted_count;
        struct session_stream *streams; /* one for each event of the plan, and tracking */
        size_t stream_count;
        struct context_intern *stream_index; /* (0, event id) → index + 1 */
        struct order *order;
        struct perf_clock clock;
        struct counting_gain *gains; /* of one CPU */
        uint64_t samples_missed_ns;
        size_t groups_stopped;
        size_t ring_pages;
        size_t groups_refused;
        uint64_t lost_told;
        int epoll_fd;
        int timer_fd;
        bool can_tell_lost; /* the kernel knows PERF_FORMAT_LOST */
        bool begun;
        struct diag *diag; /* of the call in progress */
};

static int open_event(struct perf_event_attr *attr, pid_t task, int cpu, int group_fd)
{
        return (int)syscall(SYS_perf_event_open, attr, task, cpu, group_fd,
                            PERF_FLAG_FD_CLOEXEC);
}

/* ---- the form of records -------------------------------------------------------- */

static void set_tracking(struct perf_event_attr *attr)
{
        *attr = (struct perf_event_attr){
            .type = PERF_TYPE_SOFTWARE,
            .config = PERF_COUNT_SW_DUMMY,
            .sample_period = 1,
            .mmap = 1,
            .mmap2 = 1,
            .mmap_data = 1,
            .comm = 1,
            .comm_exec = 1,
            .task = 1,
            .exclude_kernel = 1,
            .read_format =
                PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        };
}

/* What the session decides of any event's attributes. */
static void set_common(const struct session *session, struct perf_event_attr *attr,
                       bool leads)
{
        attr->size = sizeof(*attr);
        attr->inherit = session->options.task_count > 0;
        attr->disabled = leads;
        attr->enable_on_exec = leads && session->options.on_exec;
        /* The kernel wants it the same for all of a group. */
        if (!session->clock.page) {
                attr->use_clockid = 1;
                attr->clockid = CLOCK_MONOTONIC;
        }
        if (leads)
                attr->read_format |=
                    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

static void set_writing(const struct session *session, struct perf_event_attr *attr)
{
        attr->sample_type |=
            PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
        attr->sample_id_all = 1;
        attr->watermark = 1;
        attr->wakeup_watermark =
            (uint32_t)(session->ring_pages * (size_t)sysconf(_SC_PAGESIZE) / 4);
        if (session->can_tell_lost)
                attr->read_format |= PERF_FORMAT_LOST;
}

/* ---- what the kernel can do ----------------------------------------------------- */

/* Whether a kernel with the attributes ATTR lets us open an event on ourselves. */
static bool accepts(struct perf_event_attr *attr)
{
        int fd = open_event(attr, 0, -1, -1);
        if (fd >= 0)
                close(fd);
        return fd >= 0;
}

static bool wants_large_pebs(const struct plan *plan)
{
        for (size_t i = 0; i < plan->group_count; i++)
                for (size_t j = 0; j < plan->groups[i].count; j++) {
                        const struct plan_event *event = &plan->groups[i].events[j];
                        if (event->use != PLAN_COUNTER && event->attr.precise_ip > 0 &&
                            !plan_large_pebs_obstacle(&event->attr))
                                return true;
                }
        return false;
}

/* Maps a control page for as long as the session lives, to convert perf's clock with;
 * NULL when the kernel does not tell its relation to others. */
static const struct perf_event_mmap_page *map_clock_page(void)
{
        struct perf_event_attr attr;
        set_tracking(&attr);
        attr.size = sizeof(attr);
        int fd = open_event(&attr, 0, -1, -1);
        if (fd < 0)
                return NULL;
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        struct perf_event_mmap_page *page =
            mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
        close(fd); /* the mapping keeps the event */
        if (page == MAP_FAILED)
                return NULL;
        if (perf_clock_is_told(page))
                return page;
        munmap(page, page_bytes);
        return NULL;
}

static void look_at_kernel(struct session *session)
{
        struct perf_event_attr attr;
        set_tracking(&attr);
        attr.size = sizeof(attr);
        attr.read_format = PERF_FORMAT_LOST;
        session->can_tell_lost = accepts(&attr);
        if (wants_large_pebs(session->options.plan))
                session->clock.page = map_clock_page();
        perf_clock_measure(&session->clock);
}

/* ---- streams -------------------------------------------------------------------- */

/* The stream of an event with the attributes ATTR as they were opened. */
static int add_stream(struct session *session, size_t index,
                      const struct perf_event_attr *attr, const struct plan_event *event,
                      int fd, struct diag *diag)
{
        struct session_stream *stream = &session->streams[index];
        stream->index = index;
        stream->event = event;
        uint64_t id;
        if (record_layout(attr, &stream->layout) < 0)
                return diag_set(diag, -ENOTSUP, "an event's records cannot be read");
        if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
                return diag_set(diag, -errno, "cannot learn an event's id: %s",
                                strerror(errno));
        struct context_node *node = context_intern_place(session->stream_index, 0, id);
        if (!node)
                return diag_no_memory(diag);
        node->id = (int64_t)index + 1;
        return 0;
}

static int make_streams(struct session *session, struct diag *diag)
{
        size_t count = 1; /* tracking */
        for (size_t i = 0; i < session->options.plan->group_count; i++)
                count += session->options.plan->groups[i].count;
        session->streams = calloc(count, sizeof(*session->streams));
        session->stream_count = count;
        return session->streams ? 0 : diag_no_memory(diag);
}

/* ---- rings ---------------------------------------------------------------------- */

static size_t default_ring_pages(void)
{
        long limit_kb = MLOCK_KB_UNKNOWN;
        FILE *file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
        if (file) {
                if (fscanf(file, "%ld", &limit_kb) != 1 || limit_kb < 0)
                        limit_kb = MLOCK_KB_UNKNOWN;
                fclose(file);
        }
        size_t limit = (size_t)limit_kb * 1024 / (size_t)sysconf(_SC_PAGESIZE);
        size_t pages = 1;
        while (pages * 2 + 1 <= limit && pages < RING_PAGES_MAX)
                pages *= 2;
        return pages;
}

/* Where the user did not say how large, a smaller ring is better than none. */
static int open_ring(struct session *session, int fd, struct ring **ring,
                     struct diag *diag)
{
        int rc = ring_open(fd, session->ring_pages, ring, diag);
        while ((rc == -EPERM || rc == -ENOMEM) && !session->options.ring_pages &&
               session->ring_pages > 1) {
                session->ring_pages /= 2;
                rc = ring_open(fd, session->ring_pages, ring, diag);
        }
        return rc;
}

int session_watch(struct session *session, int fd, struct diag *diag)
{
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        return epoll_ctl(session->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0
                   ? 0
                   : diag_set(diag, -errno, "cannot watch an event: %s", strerror(errno));
}

/* Lets the event FD write into the ring of CPU, which it makes when it is the first. */
static int connect_ring(struct session *session, struct cpu *cpu, int fd,
                        struct diag *diag)
{
        if (!cpu->ring) {
                cpu->ring_fd = fd;
                return open_ring(session, fd, &cpu->ring, diag);
        }
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->ring_fd) == 0
                   ? 0
                   : diag_set(diag, -errno, "cannot share a ring: %s", strerror(errno));
}

/* ---- opening -------------------------------------------------------------------- */

static int keep_event(struct session *session, const struct event *event,
                      struct diag *diag)
{
        if (session->event_count == session->event_capacity) {
                size_t capacity = session->event_capacity * 2 + 32;
                struct event *events =
                    reallocarray(session->events, capacity, sizeof(*events));
                if (!events)
                        return diag_no_memory(diag);
                session->events = events;
                session->event_capacity = capacity;
        }
        session->events[session->event_count++] = *event;
        return 0;
}

static int refused(int error, const char *what, pid_t task, int cpu, struct diag *diag)
{
        char where[64];
        if (task > 0)
                snprintf(where, sizeof(where), "thread %d and CPU %d", (int)task, cpu);
        else
                snprintf(where, sizeof(where), "CPU %d", cpu);
        if (error == EMFILE)
                return diag_set(diag, -error,
                                "cannot open event %s on %s: too many open files; raise "
                                "the limit (ulimit -n)",
                                what, where);
        if (error == EACCES || error == EPERM)
                return diag_set(
                    diag, -error,
                    "the kernel forbids event %s on %s: %s needs CAP_PERFMON%s", what,
                    where,
                    task > 0 ? "recording another user's process"
                             : "recording whole CPUs",
                    task > 0 ? "" : " or kernel.perf_event_paranoid of 0 or less");
        return diag_set(diag, -error, "cannot open event %s on %s: %s", what, where,
                        strerror(error));
}

static int open_tracking(struct session *session, struct cpu *cpu, pid_t task,
                         int *tracking_fd, struct diag *diag)
{
        struct perf_event_attr attr;
        set_tracking(&attr);
        set_common(session, &attr, true);
        set_writing(session, &attr);
        int fd = open_event(&attr, task, cpu->number, -1);
        if (fd < 0)
                return refused(errno, "dummy", task, cpu->number, diag);
        struct event event = {.fd = fd,
                              .group = SIZE_MAX,
                              .leads = true,
                              .writes = true,
                              .opening = SIZE_MAX};
        int rc = keep_event(session, &event, diag);
        if (rc < 0) {
                close(fd);
                return rc;
        }
        *tracking_fd = fd;
        rc = add_stream(session, 0, &attr, NULL, fd, diag);
        if (rc == 0)
                rc = connect_ring(session, cpu, fd, diag);
        return rc == 0 ? session_watch(session, fd, diag) : rc;
}

static bool is_on_cpu(const struct plan_group *group, int cpu)
{
        for (size_t i = 0; i < group->cpu_count; i++)
                if (group->cpus[i] == cpu)
                        return true;
        return group->cpu_count == 0;
}

static size_t first_stream(const struct plan *plan, size_t group)
{
        size_t stream = 1;
        for (size_t i = 0; i < group; i++)
                stream += plan->groups[i].count;
        return stream;
}

struct place {
        struct cpu *cpu; /* NULL: a CPU without a ring */
        int number;
        pid_t task;
        size_t opening;
};

static int count_opening(struct session *session, struct event *leader, struct diag *diag)
{
        const struct opening *opening = &session->openings[leader->opening];
        return counting_open(session->counted[opening->counted].counting, leader->group,
                             &leader->counted) < 0
                   ? diag_no_memory(diag)
                   : 0;
}

static int open_member(struct session *session, const struct place *place, size_t group,
                       size_t member, int *leader_fd, struct diag *diag)
{
        const struct plan *plan = session->options.plan;
        const struct plan_event *planned = &plan->groups[group].events[member];
        struct perf_event_attr attr = planned->attr;
        bool writes = planned->use == PLAN_LOADS || planned->use == PLAN_STORES;
        bool leads = member == 0;
        set_common(session, &attr, leads);
        /* What is of no task runs from the beginning: no exec is its own. */
        if (plan->groups[group].system_wide)
                attr.inherit = attr.enable_on_exec = attr.disabled = 0;
        if (writes)
                set_writing(session, &attr);
        int fd = open_event(&attr, place->task, place->number, *leader_fd);
        if (fd < 0)
                return refused(errno, planned->name ? planned->name : "of samples",
                               place->task, place->number, diag);
        struct event event = {.fd = fd,
                              .group = group,
                              .leads = leads,
                              .writes = writes,
                              .grouped = attr.read_format & PERF_FORMAT_GROUP,
                              .opening = place->opening};
        int rc = leads ? count_opening(session, &event, diag) : 0;
        if (rc == 0)
                rc = keep_event(session, &event, diag);
        if (rc < 0) {
                close(fd);
                return rc;
        }
        if (leads)
                *leader_fd = fd;
        if (!writes)
                return 0;
        rc = add_stream(session, first_stream(plan, group) + member, &attr, planned, fd,
                        diag);
        return rc == 0 ? connect_ring(session, place->cpu, fd, diag) : rc;
}

static int open_group(struct session *session, const struct place *place, size_t group,
                      struct diag *diag)
{
        int leader_fd = -1;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < session->options.plan->groups[group].count; i++)
                rc = open_member(session, place, group, i, &leader_fd, diag);
        return rc;
}

/* The index of CPU's counters, which are made when they are the first. */
static int find_counted(struct session *session, int cpu, size_t *index,
                        struct diag *diag)
{
        for (*index = 0; *index < session->counted_count; ++*index)
                if (session->counted[*index].cpu == cpu)
                        return 0;
        struct counted *counted =
            reallocarray(session->counted, session->counted_count + 1, sizeof(*counted));
        if (!counted)
                return diag_no_memory(diag);
        session->counted = counted;
        counted[*index] = (struct counted){
            cpu, counting_new(session->options.plan, perf_clock_monotonic())};
        if (!counted[*index].counting)
                return diag_no_memory(diag);
        session->counted_count++;
        return 0;
}

static int add_opening(struct session *session, int cpu, int tracking_fd, size_t *index,
                       struct diag *diag)
{
        if (session->opening_count == session->opening_capacity) {
                size_t capacity = session->opening_capacity * 2 + 16;
                struct opening *openings =
                    reallocarray(session->openings, capacity, sizeof(*openings));
                if (!openings)
                        return diag_no_memory(diag);
                session->openings = openings;
                session->opening_capacity = capacity;
        }
        struct opening opening = {.tracking_fd = tracking_fd};
        int rc = find_counted(session, cpu, &opening.counted, diag);
        *index = session->opening_count;
        if (rc == 0)
                session->openings[session->opening_count++] = opening;
        return rc;
}

static int open_on_cpu(struct session *session, struct cpu *cpu, pid_t task,
                       struct diag *diag)
{
        const struct plan *plan = session->options.plan;
        struct place place = {cpu, cpu->number, task, SIZE_MAX};
        int tracking_fd = -1;
        int rc = open_tracking(session, cpu, task, &tracking_fd, diag);
        if (rc == 0)
                rc = add_opening(session, cpu->number, tracking_fd, &place.opening, diag);
        for (size_t i = 0; rc == 0 && i < plan->group_count; i++)
                if (!plan->groups[i].system_wide &&
                    is_on_cpu(&plan->groups[i], cpu->number))
                        rc = open_group(session, &place, i, diag);
        return rc;
}

/* A group that counts whatever runs; without permission the run goes on. */
static int open_system_wide(struct session *session, size_t group, struct diag *diag)
{
        const struct plan_group *planned = &session->options.plan->groups[group];
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < planned->cpu_count; i++) {
                struct place place = {NULL, planned->cpus[i], -1, SIZE_MAX};
                rc = add_opening(session, place.number, -1, &place.opening, diag);
                if (rc == 0)
                        rc = open_group(session, &place, group, diag);
        }
        if (rc == -EACCES || rc == -EPERM || rc == -ENOENT) {
                session->groups_refused++;
                return 0;
        }
        return rc;
}

static int start_timer(struct session *session, struct diag *diag)
{
        uint64_t ns = session->options.interval_ns;
        bool counts = false;
        for (size_t i = 0; i < session->options.plan->group_count; i++)
                counts |= session->options.plan->groups[i].events[0].use == PLAN_COUNTER;
        if (!counts || ns == 0)
                return 0;
        session->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        struct timespec interval = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        struct itimerspec setting = {interval, interval};
        if (session->timer_fd < 0 ||
            timerfd_settime(session->timer_fd, 0, &setting, NULL) != 0)
                return diag_set(diag, -errno,
                                "cannot start the timer of the counters: %s",
                                strerror(errno));
        return session_watch(session, session->timer_fd, diag);
}

/* A descriptor for each event, task and CPU may be more than is usual. The target has
 * been forked already or is not ours, so the limit is memlag's alone. */
static void raise_open_files(void)
{
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
                limit.rlim_cur = limit.rlim_max;
                setrlimit(RLIMIT_NOFILE, &limit);
        }
}

static int open_all(struct session *session, struct diag *diag)
{
        const struct session_options *options = &session->options;
        int rc = make_streams(session, diag);
        for (size_t i = 0; rc == 0 && i < options->plan->group_count; i++)
                if (options->plan->groups[i].system_wide)
                        rc = open_system_wide(session, i, diag);
        if (rc == 0 && options->task_count)
                return session_add_tasks(session, options->tasks, options->task_count,
                                         diag);
        for (size_t i = 0; rc == 0 && i < session->cpu_count; i++)
                rc = open_on_cpu(session, &session->cpus[i], -1, diag);
        return rc;
}

static int deliver(void *context, uint64_t time, const void *tag, const void *bytes,
                   size_t size);

static int set_up(struct session *session, struct diag *diag)
{
        const struct session_options *options = &session->options;
        session->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (session->epoll_fd < 0)
                return diag_set(diag, -errno, "cannot watch events: %s", strerror(errno));
        session->cpus = calloc(options->cpu_count, sizeof(*session->cpus));
        session->stream_index = context_intern_new();
        session->order = order_new(ORDER_BYTES, deliver, session);
        if (!session->cpus || !session->stream_index || !session->order)
                return diag_no_memory(diag);
        session->cpu_count = options->cpu_count;
        for (size_t i = 0; i < options->cpu_count; i++)
                session->cpus[i].number = options->cpus[i];
        session->ring_pages =
            options->ring_pages ? options->ring_pages : default_ring_pages();
        raise_open_files();
        look_at_kernel(session);
        return 0;
}

int session_open(const struct session_options *options, struct session **result,
                 struct diag *diag)
{
        struct session *session = calloc(1, sizeof(*session));
        if (!session)
                return diag_no_memory(diag);
        session->options = *options;
        session->epoll_fd = session->timer_fd = -1;
        int rc = set_up(session, diag);
        if (rc == 0)
                rc = open_all(session, diag);
        if (rc == 0)
                rc = start_timer(session, diag);
        if (rc < 0) {
                session_close(session);
                return rc;
        }
        *result = session;
        return 0;
}

static int open_on_task(struct session *session, pid_t task, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < session->cpu_count; i++)
                rc = open_on_cpu(session, &session->cpus[i], task, diag);
        return rc;
}

int session_add_tasks(struct session *session, const pid_t *tasks, size_t count,
                      struct diag *diag)
{
        size_t first = session->event_count;
        size_t gone = 0;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < count; i++) {
                rc = open_on_task(session, tasks[i], diag);
                if (rc == -ESRCH && ++gone < count) /* it has ended; others go on */
                        rc = 0;
        }
        for (size_t i = first; rc == 0 && session->begun && i < session->event_count; i++)
                if (session->events[i].leads)
                        ioctl(session->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
        return rc;
}

int session_begin(struct session *session, struct diag *diag)
{
        session->begun = true;
        for (size_t i = 0; i < session->event_count; i++)
                if (session->events[i].leads &&
                    ioctl(session->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
                        return diag_set(diag, -errno, "cannot start an event: %s",
                                        strerror(errno));
        return 0;
}

void session_close(struct session *session)
{
        if (!session)
                return;
        for (size_t i = 0; i < session->cpu_count; i++)
                ring_close(session->cpus[i].ring);
        for (size_t i = 0; i < session->event_count; i++)
                close(session->events[i].fd);
        for (size_t i = 0; i < session->counted_count; i++)
                counting_free(session->counted[i].counting);
        if (session->clock.page)
                munmap((void *)session->clock.page, (size_t)sysconf(_SC_PAGESIZE));
        if (session->epoll_fd >= 0)
                close(session->epoll_fd);
        if (session->timer_fd >= 0)
                close(session->timer_fd);
        context_intern_free(session->stream_index);
        order_free(session->order);
        free(session->gains);
        free(session->openings);
        free(session->counted);
        free(session->events);
        free(session->streams);
        free(session->cpus);
        free(session);
}

int session_fd(const struct session *session)
{
        return session->epoll_fd;
}

size_t session_streams(const struct session *session)
{
        return session->stream_count;
}

size_t session_ring_pages(const struct session *session)
{
        return session->ring_pages;
}

bool session_forgoes_large_pebs(const struct session *session)
{
        return !session->clock.page && wants_large_pebs(session->options.plan);
}

size_t session_groups_refused(const struct session *session)
{
        return session->groups_refused;
}

size_t session_groups_stopped(const struct session *session)
{
        return session->groups_stopped;
}

uint64_t session_late(const struct session *session)
{
        return order_late(session->order);
}

uint64_t session_samples_missed_ns(const struct session *session)
{
        return session->samples_missed_ns;
}

/* ---- records -------------------------------------------------------------------- */

static int count_damage(struct session *session, uint64_t count, const char *unit)
{
        const struct session_handler *handler = &session->options.handler;
        return count ? handler->damaged(handler->context, count, unit, session->diag) : 0;
}

/* From the queue, in order. */
static int deliver(void *context, uint64_t time, const void *tag, const void *bytes,
                   size_t size)
{
        struct session *session = context;
        const struct session_handler *handler = &session->options.handler;
        const struct session_stream *stream = tag;
        int64_t time_ns = perf_clock_to_monotonic(&session->clock, time);
        struct record record;
        if (!stream)
                return handler->added(handler->context, time_ns, bytes, size,
                                      session->diag);
        if (record_decode(&stream->layout, bytes, size, &record) < 0)
                return count_damage(session, 1, "records");
        if (record.kind == RECORD_LOST)
                session->lost_told += record.lost.count;
        return handler->record(handler->context, time_ns, stream, &record, session->diag);
}

static int queue_record(struct session *session, const void *bytes, size_t size)
{
        uint64_t id;
        uint64_t time;
        if (!record_identifier(bytes, size, &id))
                return count_damage(session, 1, "records");
        int64_t index = context_intern_find(session->stream_index, 0, id);
        const struct session_stream *stream = &session->streams[index ? index - 1 : 0];
        if (index == 0 || !record_time(&stream->layout, bytes, size, &time))
                return count_damage(session, 1, "records");
        int rc = order_add(session->order, time, stream, bytes, size);
        return rc == -ENOMEM ? diag_no_memory(session->diag) : rc;
}

int session_add(struct session *session, int64_t time_ns, const void *bytes, size_t size,
                struct diag *diag)
{
        session->diag = diag;
        int rc = order_add(session->order, (uint64_t)(time_ns - session->clock.offset_ns),
                           NULL, bytes, size);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

/* Reads at most what fits into the ring at once, so that no ring waits for ever for
 * another that is filled as fast as it is read. */
static int read_ring(struct session *session, struct ring *ring)
{
        size_t left = session->ring_pages * (size_t)sysconf(_SC_PAGESIZE);
        uint64_t damaged_before = ring_damaged_bytes(ring);
        const void *bytes;
        size_t size;
        int rc = 0;
        for (size_t count = 1; rc == 0 && left && (bytes = ring_next(ring, &size));
             count++) {
                left -= size < left ? size : left;
                rc = queue_record(session, bytes, size);
                if (count % RECORDS_A_RELEASE == 0)
                        ring_release(ring);
        }
        ring_release(ring);
        return rc == 0 ? count_damage(session, ring_damaged_bytes(ring) - damaged_before,
                                      "bytes")
                       : rc;
}

static int read_rings(struct session *session)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < session->cpu_count; i++)
                if (session->cpus[i].ring)
                        rc = read_ring(session, session->cpus[i].ring);
        return rc;
}

/* ---- counters ------------------------------------------------------------------- */

/* What read(2) of a group's leader gives: with PERF_FORMAT_GROUP the number of values
 * comes first and the values last, else the value comes first. */
struct group_values {
        uint64_t first;
        uint64_t time_enabled;
        uint64_t time_running;
        uint64_t values[PLAN_GROUP_EVENTS_MAX];
};

static void read_time_there(struct opening *opening)
{
        uint64_t values[8];
        if (opening->tracking_fd >= 0 &&
            read(opening->tracking_fd, values, sizeof(values)) >=
                (ssize_t)(3 * sizeof(*values)))
                opening->there_ns = values[2];
}

/* A pinned group that lost its counters reads as end of file. */
static void read_group(struct session *session, const struct event *event)
{
        struct group_values group;
        const struct opening *opening = &session->openings[event->opening];
        ssize_t length = read(event->fd, &group, sizeof(group));
        size_t count = session->options.plan->groups[event->group].count;
        if (length == 0)
                session->groups_stopped++;
        if (length < (ssize_t)(3 * sizeof(uint64_t)) ||
            (event->grouped && group.first != count))
                return;
        counting_add(session->counted[opening->counted].counting, event->counted,
                     opening->tracking_fd >= 0 ? opening->there_ns : group.time_enabled,
                     group.time_running, event->grouped ? group.values : &group.first);
}

/* Hands over what was gained on a CPU; gains that began together go together. */
static int hand_over_gains(struct session *session, const struct counted *counted,
                           int64_t now_ns)
{
        const struct session_handler *handler = &session->options.handler;
        if (!session->gains)
                session->gains = calloc(counting_names(counted->counting) + 1,
                                        sizeof(*session->gains));
        struct counting_gain *gains = session->gains;
        if (!gains)
                return diag_no_memory(session->diag);
        struct counting_missed missed;
        size_t count = counting_gains(counted->counting, now_ns, gains, &missed);
        session->samples_missed_ns += missed.samples_ns;
        int rc = 0;
        for (size_t from = 0, end; rc == 0 && from < count; from = end) {
                for (end = from + 1;
                     end < count && gains[end].start_ns == gains[from].start_ns;)
                        end++;
                rc = handler->counters(handler->context, now_ns, counted->cpu,
                                       gains + from, end - from, missed.counters_ns,
                                       session->diag);
                missed.counters_ns = 0;
        }
        return rc;
}

static int read_counters(struct session *session)
{
        int64_t now_ns = perf_clock_monotonic();
        session->groups_stopped = 0;
        for (size_t i = 0; i < session->opening_count; i++)
                read_time_there(&session->openings[i]);
        for (size_t i = 0; i < session->event_count; i++) {
                const struct event *event = &session->events[i];
                if (event->leads && event->opening != SIZE_MAX)
                        read_group(session, event);
        }
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < session->counted_count; i++)
                rc = hand_over_gains(session, &session->counted[i], now_ns);
        return rc;
}

static bool interval_has_passed(struct session *session)
{
        uint64_t count;
        return session->timer_fd >= 0 &&
               read(session->timer_fd, &count, sizeof(count)) == (ssize_t)sizeof(count);
}

/* The events of a thread that has ended would wake us for ever. */
static void stop_watching_ended(struct session *session)
{
        enum { SOME = 16 };
        struct epoll_event events[SOME];
        int count;
        do {
                count = epoll_wait(session->epoll_fd, events, SOME, 0);
                for (int i = 0; i < count; i++)
                        if (events[i].events & EPOLLHUP)
                                epoll_ctl(session->epoll_fd, EPOLL_CTL_DEL,
                                          events[i].data.fd, NULL);
        } while (count == SOME && events[0].events & EPOLLHUP);
}

int session_drain(struct session *session, struct diag *diag)
{
        session->diag = diag;
        stop_watching_ended(session);
        int rc = interval_has_passed(session) ? read_counters(session) : 0;
        if (rc == 0)
                rc = read_rings(session);
        if (rc == 0)
                rc = order_round(session->order);
        /* Behind the records: those in hand have the times of the measure before. */
        perf_clock_measure(&session->clock);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

/* ---- the end -------------------------------------------------------------------- */

/* What the events of all rings together have lost; 0 when the kernel does not know. */
static uint64_t count_lost(const struct session *session)
{
        uint64_t lost = 0;
        for (size_t i = 0; session->can_tell_lost && i < session->event_count; i++) {
                const struct event *event = &session->events[i];
                /* Of a single event: value, times as asked for, and lost at the end. */
                uint64_t values[4 + PLAN_GROUP_EVENTS_MAX * 2];
                if (!event->writes)
                        continue;
                ssize_t length = read(event->fd, values, sizeof(values));
                if (length >= (ssize_t)(2 * sizeof(*values)))
                        lost += values[(size_t)length / sizeof(*values) - 1];
        }
        return lost;
}

int session_end(struct session *session, uint64_t *lost, struct diag *diag)
{
        session->diag = diag;
        *lost = 0;
        for (size_t i = 0; i < session->event_count; i++)
                if (session->events[i].leads)
                        ioctl(session->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
        int rc = session->timer_fd >= 0 ? read_counters(session) : 0;
        if (rc == 0)
                rc = read_rings(session);
        if (rc == 0)
                rc = order_flush(session->order);
        uint64_t all_lost = count_lost(session);
        if (all_lost > session->lost_told)
                *lost = all_lost - session->lost_told;
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}
