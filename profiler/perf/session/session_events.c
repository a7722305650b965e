/* SPDX-License-Identifier: MIT */
/* Opens a session's events: their record layout, the ring that they write into, and the
 * kernel's refusals. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "intern.h"
#include "session_parts.h"

#define RING_PAGES_MAX   1024 /* unless the user sets it */
#define MLOCK_KB_UNKNOWN 516  /* the kernel's default */

static int open_event(struct perf_event_attr *attr, pid_t task, int cpu, int group_fd)
{
        return (int)syscall(SYS_perf_event_open, attr, task, cpu, group_fd,
                            PERF_FLAG_FD_CLOEXEC);
}

/* ---- the form of records ---- */

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

/* Sets the session's part of any event's attributes. */
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

/* ---- kernel capabilities ---- */

/* Checks whether the kernel accepts an event with attributes ATTR on this process. */
static bool accepts(struct perf_event_attr *attr)
{
        int fd = open_event(attr, 0, -1, -1);
        if (fd >= 0)
                close(fd);
        return fd >= 0;
}

bool session_wants_large_pebs(const struct plan *plan)
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

/* Maps a control page for the session's lifetime, to convert perf's clock; NULL: the
 * kernel does not publish the clock's relation. */
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

void session_look_at_kernel(struct session *session)
{
        session->ring_pages = session->options.ring_pages ? session->options.ring_pages
                                                          : default_ring_pages();
        struct perf_event_attr attr;
        set_tracking(&attr);
        attr.size = sizeof(attr);
        attr.read_format = PERF_FORMAT_LOST;
        session->can_tell_lost = accepts(&attr);
        set_tracking(&attr);
        attr.size = sizeof(attr);
        attr.build_id = 1;
        session->can_tell_build_ids = accepts(&attr);
        if (session_wants_large_pebs(session->options.plan))
                session->clock.page = map_clock_page();
        perf_clock_measure(&session->clock);
}

/* ---- streams ---- */

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

/* ---- rings ---- */

/* Without a size from the user, a smaller ring is better than none. */
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

/* Lets the event FD write into the ring of CPU; the first event makes the ring. */
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

/* ---- opening ---- */

static int keep_event(struct session *session, const struct event *event,
                      struct diag *diag)
{
        if (array_reserve(&session->events, &session->event_capacity,
                          session->event_count, sizeof(*session->events)) < 0)
                return diag_no_memory(diag);
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
        /* The file may be gone or replaced when memlag opens it. */
        attr.build_id = session->can_tell_build_ids;
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
        /* A system-wide event runs from the beginning; it waits for no exec. */
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
        if (array_reserve(&session->openings, &session->opening_capacity,
                          session->opening_count, sizeof(*session->openings)) < 0)
                return diag_no_memory(diag);
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

/* Closes the events and forgets the openings beyond the given counts. Unread openings
 * add nothing to the counting. */
static void close_beyond(struct session *session, size_t events, size_t openings)
{
        while (session->event_count > events)
                close(session->events[--session->event_count].fd);
        session->opening_count = openings;
}

/* Opens a system-wide group. Without permission the run continues without the group: the
 * counts of a part of the machine would be mistaken for its total. */
static int open_system_wide(struct session *session, size_t group, struct diag *diag)
{
        const struct plan_group *planned = &session->options.plan->groups[group];
        size_t events = session->event_count, openings = session->opening_count;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < planned->cpu_count; i++) {
                struct place place = {NULL, planned->cpus[i], -1, SIZE_MAX};
                rc = add_opening(session, place.number, -1, &place.opening, diag);
                if (rc == 0)
                        rc = open_group(session, &place, group, diag);
        }
        if (rc != -EACCES && rc != -EPERM && rc != -ENOENT)
                return rc;
        close_beyond(session, events, openings);
        ++*(rc == -ENOENT ? &session->groups_unknown : &session->groups_refused);
        return 0;
}

static int open_on_task(struct session *session, pid_t task, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < session->cpu_count; i++)
                rc = open_on_cpu(session, &session->cpus[i], task, diag);
        return rc;
}

/* Skips a task that has ended; -ESRCH when all have ended. */
static int open_on_tasks(struct session *session, struct diag *diag)
{
        const struct session_options *options = &session->options;
        size_t gone = 0;
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < options->task_count; i++) {
                rc = open_on_task(session, options->tasks[i], diag);
                if (rc == -ESRCH && ++gone < options->task_count)
                        rc = 0;
        }
        return rc;
}

int session_open_all(struct session *session, struct diag *diag)
{
        const struct session_options *options = &session->options;
        int rc = make_streams(session, diag);
        for (size_t i = 0; rc == 0 && i < options->plan->group_count; i++)
                if (options->plan->groups[i].system_wide)
                        rc = open_system_wide(session, i, diag);
        if (rc == 0 && options->task_count)
                return open_on_tasks(session, diag);
        for (size_t i = 0; rc == 0 && i < session->cpu_count; i++)
                rc = open_on_cpu(session, &session->cpus[i], -1, diag);
        return rc;
}

int session_begin(struct session *session, struct diag *diag)
{
        for (size_t i = 0; i < session->event_count; i++)
                if (session->events[i].leads &&
                    ioctl(session->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
                        return diag_set(diag, -errno, "cannot start an event: %s",
                                        strerror(errno));
        return 0;
}
