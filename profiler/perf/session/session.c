/* SPDX-License-Identifier: MIT */
/* A recording session: opens and closes its parts, delivers the records of their rings
 * in time order, and counts losses. */
#include "session_parts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "intern.h"

/* Waiting for order, of all rings together. */
#define ORDER_BYTES       (64u << 20)
#define RECORDS_A_RELEASE 256

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
        raise_open_files();
        session_look_at_kernel(session);
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
                rc = session_open_all(session, diag);
        if (rc == 0)
                rc = session_start_timer(session, diag);
        if (rc < 0) {
                session_close(session);
                return rc;
        }
        *result = session;
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

bool session_ended(const struct session *session)
{
        for (size_t i = 0; i < session->cpu_count; i++) {
                struct pollfd event = {.fd = session->cpus[i].ring_fd};
                if (session->cpus[i].ring &&
                    (poll(&event, 1, 0) != 1 || !(event.revents & POLLHUP)))
                        return false;
        }
        return true;
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
        return !session->clock.page && session_wants_large_pebs(session->options.plan);
}

size_t session_groups_refused(const struct session *session)
{
        return session->groups_refused;
}

size_t session_groups_unknown(const struct session *session)
{
        return session->groups_unknown;
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

/* ---- records ---- */

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

/* Reads at most one ring's worth at once: a ring that fills as fast as it is read must
 * not starve the others. */
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

int session_drain(struct session *session, bool whole, struct diag *diag)
{
        session->diag = diag;
        stop_watching_ended(session);
        int rc =
            session_interval_has_passed(session) ? session_read_counters(session) : 0;
        if (rc == 0)
                rc = read_rings(session);
        if (rc == 0 && whole)
                rc = order_round(session->order);
        /* After the records: pending records use the previous measurement. */
        perf_clock_measure(&session->clock);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

/* ---- the end ---- */

/* Counts the lost records of all events and rings; 0 when the kernel does not report
 * them. */
static uint64_t count_lost(const struct session *session)
{
        uint64_t lost = 0;
        for (size_t i = 0; session->can_tell_lost && i < session->event_count; i++) {
                const struct event *event = &session->events[i];
                /* For a single event: value, the requested times, and the lost count at
                 * the end. */
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
        int rc = session->timer_fd >= 0 ? session_read_counters(session) : 0;
        if (rc == 0)
                rc = read_rings(session);
        if (rc == 0)
                rc = order_flush(session->order);
        uint64_t all_lost = count_lost(session);
        if (all_lost > session->lost_told)
                *lost = all_lost - session->lost_told;
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}
