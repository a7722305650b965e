/* SPDX-License-Identifier: MIT */
/* Private declarations that the session's files share: session_events.c opens events and
 * rings, session_counters.c reads the counters, session.c delivers the data. */
#ifndef MEMLAG_PERF_SESSION_PARTS_H
#define MEMLAG_PERF_SESSION_PARTS_H

#include <linux/perf_event.h>

#include "clock.h"
#include "order.h"
#include "ring.h"
#include "session.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4)
#endif

struct event {
        int fd;
        size_t group;   /* of the plan; SIZE_MAX: for task and mapping records */
        bool leads;     /* group leader; enabled and disabled for the whole group */
        bool writes;    /* records into the CPU's ring */
        bool grouped;   /* is read with all of its group */
        size_t opening; /* index, of leaders */
        size_t counted; /* likewise: its identifier in counting */
};

struct cpu {
        int number;
        struct ring *ring; /* NULL: none yet */
        int ring_fd;       /* the event that the ring belongs to */
};

/* The open groups of the plan for one task, or for all, on one CPU. */
struct opening {
        size_t counted;    /* index of the CPU's counters */
        int tracking_fd;   /* runs whenever the task is there; -1: all tasks */
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
        size_t groups_unknown;
        uint64_t lost_told;
        int epoll_fd;
        int timer_fd;
        bool can_tell_lost;      /* the kernel knows PERF_FORMAT_LOST */
        bool can_tell_build_ids; /* also, since 5.12, the build-ids of mapped files */
        struct diag *diag;       /* of the call in progress */
};

/* session_events.c: detects the kernel's capabilities and the maximum ring size. */
void session_look_at_kernel(struct session *session);
bool session_wants_large_pebs(const struct plan *plan);
/* All of the plan's events on all tasks and CPUs, disabled. */
int session_open_all(struct session *session, struct diag *diag);

/* session_counters.c */
int session_start_timer(struct session *session, struct diag *diag);
bool session_interval_has_passed(struct session *session);
int session_read_counters(struct session *session);

#endif
