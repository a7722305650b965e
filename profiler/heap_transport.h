/* SPDX-License-Identifier: MIT */
/* The heap of a target that runs as it is, on the processor: has the tracker loaded into
 * it and into the programs that it executes, and takes what the tracker tells out of
 * shared memory. For sources that have samples from elsewhere, and learn of processes
 * and mappings there. Knows rings, and neither perf nor the database. */
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
        size_t number;   /* of the image that told it */
        image_key image; /* in which the sink calls it ID */
        int64_t id;
        uint32_t depth;
        uint8_t packed[];
};

/* CALL_GRAPH: allocations have their call stacks. */
int heap_transport_open(bool call_graph, struct heap_transport **transport,
                        struct diag *diag);
/* The target's processes tell nothing more, and none of them waits. NULL is allowed. */
void heap_transport_close(struct heap_transport *transport);

/* ENVIRONMENT with what has the tracker loaded into COMMAND: a NULL-terminated array for
 * execve, which is the transport's. The tracker removes that again before the target sees
 * it. A statically linked COMMAND gets ENVIRONMENT as it is. */
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

/* Must be called once for each event that was handed over, or a copy of it: the stacks of
 * a process that has ended go with its last event. */
void heap_event_release(struct heap_transport *transport, const struct heap_event *event);

/* Anything but 0 ends the drain, which returns it. */
typedef int (*heap_event_handler)(void *context, const struct heap_event *event);

/* Hands over all that has been told so far: of each process in the order in which it
 * happened, and one process after the other. A time may lie before that of
 * an event before it, by another thread. */
int heap_transport_drain(struct heap_transport *transport, heap_event_handler handler,
                         void *context, struct diag *diag);

/* Whether a thread was still writing, after the last drain, what it had begun to tell
 * when the round began: that, and what others have told behind it, is to come, and may be
 * earlier than what was handed over. The next drains go on with the round. */
bool heap_transport_awaits(const struct heap_transport *transport);

/* Says an event other than PROCESS to the sink. */
int heap_event_deliver(struct sink *sink, int64_t time_ns, image_key image,
                       const struct heap_event *event, struct diag *diag);

/* What is missing: processes whose records made no sense, those for which there was no
 * room, and those that could not reach memlag any more, after a change of user or root.
 */
struct heap_transport_losses {
        uint64_t damaged;
        uint64_t beyond_capacity;
        uint64_t cut_off;
        uint64_t refused; /* programs that cannot take the tracker */
        uint64_t untold;  /* calls behind one that a handler's jump had left */
};
struct heap_transport_losses
heap_transport_losses(const struct heap_transport *transport);

#endif
