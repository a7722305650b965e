/* SPDX-License-Identifier: MIT */
/* Reads a session's counters at each interval, and delivers their increments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "session_parts.h"

int session_start_timer(struct session *session, struct diag *diag)
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

/* Result of read(2) on a group's leader. With PERF_FORMAT_GROUP the value count comes
 * first and the values last; otherwise the value comes first. */
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

/* Delivers the increments on a CPU; increments with the same start are delivered
 * together. */
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

int session_read_counters(struct session *session)
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

bool session_interval_has_passed(struct session *session)
{
        uint64_t count;
        return session->timer_fd >= 0 &&
               read(session->timer_fd, &count, sizeof(count)) == (ssize_t)sizeof(count);
}
