/* SPDX-License-Identifier: MIT */
/* Opens the events of a plan on tasks or CPUs, reads records from their rings in time
 * order, and reads the counters at each interval. Knows the kernel's interface, but
 * neither the purpose of the events nor the use of the data.
 *
 * Opening: the kernel allows a ring of inherited events only on a single CPU. Therefore
 * each event is opened for each task on each CPU; threads and processes that the tasks
 * start inherit it. On CPUs, each event is opened once per CPU. In both cases each CPU
 * has one ring for all its events, and counters are per CPU. */
#ifndef MEMLAG_PERF_SESSION_H
#define MEMLAG_PERF_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "counting.h"
#include "diag.h"
#include "plan.h"
#include "record.h"

/* An event that delivers records. */
struct session_stream {
        struct record_layout layout;
        size_t index;                   /* from 0, below session_streams */
        const struct plan_event *event; /* NULL: task and mapping records */
};

/* Receives the data. Times are nanoseconds of CLOCK_MONOTONIC. A nonzero result ends the
 * reading and is returned. */
struct session_handler {
        void *context;
        int (*record)(void *context, int64_t time_ns, const struct session_stream *stream,
                      const struct record *record, struct diag *diag);
        /* Receives the arguments of session_add, in time order between the records. */
        int (*added)(void *context, int64_t time_ns, const void *bytes, size_t size,
                     struct diag *diag);
        /* COUNT bytes or records that could not be understood. */
        int (*damaged)(void *context, uint64_t count, const char *unit,
                       struct diag *diag);
        /* Increments on CPU with a common start; MISSED_NS: time in which groups of
         * counters did not run, summed over groups. */
        int (*counters)(void *context, int64_t end_ns, int cpu,
                        const struct counting_gain *gains, size_t count,
                        uint64_t missed_ns, struct diag *diag);
};

struct session_options {
        const struct plan *plan; /* must outlive the session */
        const pid_t *tasks;      /* threads, by their ids */
        size_t task_count;       /* 0: all tasks on the CPUs */
        bool on_exec;            /* begin when the only task executes a program */
        const int *cpus;
        size_t cpu_count;
        size_t ring_pages; /* of each CPU, a power of two; 0: as many as may be locked */
        uint64_t interval_ns; /* of counters */
        struct session_handler handler;
};

struct session;

/* Nothing is counted until the task's exec or session_begin. A task that has ended is
 * left out; -ESRCH when all have. Otherwise a negative errno value of the kernel's, with
 * the event, the task or CPU and the kernel's reason in DIAG. */
int session_open(const struct session_options *options, struct session **session,
                 struct diag *diag);
void session_close(struct session *session);

/* Lets the events begin now, where they do not wait for an exec. */
int session_begin(struct session *session, struct diag *diag);

/* Polls readable when a ring fills up or an interval has passed. */
int session_fd(const struct session *session);

/* Reads available data. Records go to the handler once no earlier record can come
 * (perf/records/order.h). WHOLE: all external events from before the drain were added;
 * until then records wait. */
int session_drain(struct session *session, bool whole, struct diag *diag);

/* Inserts an external event between the records, by its time. Call it before the drain
 * that ends the external source's round. */
int session_add(struct session *session, int64_t time_ns, const void *bytes, size_t size,
                struct diag *diag);

/* Returns true if all tasks with events, and all tasks that inherited events, have
 * ended. */
bool session_ended(const struct session *session);

/* Lets the session's descriptor poll readable also when FD does. */
int session_watch(struct session *session, int fd, struct diag *diag);

/* Ends the counting and delivers the rest. *LOST: the dropped records that no LOST
 * record reported, if the kernel counts them (Linux 6.0). */
int session_end(struct session *session, uint64_t *lost, struct diag *diag);

size_t session_streams(const struct session *session);
size_t session_ring_pages(const struct session *session);
/* Returns true if the plan wants large PEBS without effect. The kernel does not publish
 * the relation of perf's clock to CLOCK_MONOTONIC; records with CLOCK_MONOTONIC times
 * interrupt the program. */
bool session_forgoes_large_pebs(const struct session *session);
/* Counts system-wide groups without permission, and groups with events that the kernel
 * does not know: neither is counted on any CPU. */
size_t session_groups_refused(const struct session *session);
size_t session_groups_unknown(const struct session *session);
/* Groups that had lost their counters to another program when they were last read. */
size_t session_groups_stopped(const struct session *session);
/* Counts records and added events that came after later ones had been delivered; these
 * were delivered out of order. */
uint64_t session_late(const struct session *session);
/* Time in which loads were not sampled because counters occupied the PMU. */
uint64_t session_samples_missed_ns(const struct session *session);

#endif
