/* SPDX-License-Identifier: MIT */
/* Heap tracking for a target that runs natively. Loads the tracker into the target and
 * its children, and reads the tracker's records from shared memory. Serves sources whose
 * samples, processes and mappings come from elsewhere. Knows rings, and neither perf nor
 * the database. */
#ifndef MEMLAG_HEAP_TRANSPORT_H
#define MEMLAG_HEAP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "source.h"

struct heap_transport;

/* Where a block was allocated: heap_stacks.h knows its frames. */
struct heap_stack {
        size_t number;   /* of the image that sent it */
        image_key image; /* its key in the sink for ID */
        int64_t id;
        uint32_t depth;
        uint8_t packed[];
};

/* CALL_GRAPH: allocations have their call stacks. */
int heap_transport_open(bool call_graph, struct heap_transport **transport,
                        struct diag *diag);
/* Ends recording of the target's processes; no process waits any longer. NULL is
 * allowed. */
void heap_transport_close(struct heap_transport *transport);

/* Returns ENVIRONMENT with the variables that load the tracker into COMMAND: a
 * NULL-terminated array for execve, owned by the transport. The tracker removes these
 * variables before the target sees them. A statically linked COMMAND gets ENVIRONMENT
 * unchanged. */
int heap_transport_environment(struct heap_transport *transport, const char *command,
                               char **environment, char ***result, struct diag *diag);

/* The tracker's file, as the kernel's records of mappings name it. */
const char *heap_transport_tracker(const struct heap_transport *transport);

/* Polls readable when a process is about to wait for room. */
int heap_transport_poll_fd(const struct heap_transport *transport);

enum heap_event_kind {
        HEAP_EVENT_PROCESS, /* the tracker is in a new image of process pid */
        HEAP_EVENT_ALLOC,   /* a block begins */
        HEAP_EVENT_FREE,    /* the block at addr ends */
        HEAP_EVENT_RESIZE,  /* the thread gives the block at addr another size */
        HEAP_EVENT_RESIZED, /* has done so: that block ends */
        HEAP_EVENT_UNMAP,   /* [addr, addr + size_bytes) is unmapped: all in it ends */
        HEAP_EVENT_REPLACED /* the same, but another mapping is there now */
};

/* May be copied; its stack lives until it is released. */
struct heap_event {
        uint64_t time_ns; /* CLOCK_MONOTONIC */
        enum heap_event_kind kind;
        uint32_t pid;         /* as memlag's /proc numbers it */
        uint32_t tid;         /* as the process sees it */
        const char *function; /* of ALLOC, static */
        uint64_t addr;
        uint64_t size_bytes;
        struct heap_stack *stack; /* NULL: none */
};

/* Must be called once for each delivered event, or for a copy: the stacks of an ended
 * process are freed with its last event. */
void heap_event_release(struct heap_transport *transport, const struct heap_event *event);

/* Anything but 0 ends the drain, which returns it. */
typedef int (*heap_event_handler)(void *context, const struct heap_event *event);

/* Delivers all pending events, one process after the other. The events of one process
 * come in program order; times of different threads may be slightly out of order. */
int heap_transport_drain(struct heap_transport *transport, heap_event_handler handler,
                         void *context, struct diag *diag);

/* Returns true if, after the last drain, a thread had not finished a record that it
 * began before the round. That record and its successors are pending, and may be earlier
 * than delivered events. The next drains continue the round. */
bool heap_transport_awaits(const struct heap_transport *transport);

/* Says an event other than PROCESS to the sink. */
int heap_event_deliver(struct sink *sink, int64_t time_ns, image_key image,
                       const struct heap_event *event, struct diag *diag);

/* Counts of missing processes: processes with damaged records, processes beyond the
 * capacity, and processes that lost access to memlag after a change of user or root. */
struct heap_transport_losses {
        uint64_t damaged;
        uint64_t beyond_capacity;
        uint64_t cut_off;
        uint64_t refused; /* programs that cannot load the tracker */
        uint64_t untold;  /* calls after a call that a signal handler left by longjmp */
};
struct heap_transport_losses
heap_transport_losses(const struct heap_transport *transport);

#endif
