/* SPDX-License-Identifier: MIT */
/* Reads the heap tracker's records from the rings of a native target. */
#include "heap_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "heap/event.h"
#include "heap/heap_program.h"
#include "heap_preload.h"
#include "heap_stacks.h"
#include "heap_waiting.h"
#include "intern.h"
#include "sim_memory.h"
#include "sim_ring.h"
#include "tick_clock.h"

/* Bytes to consume before the producers are notified. */
#define RELEASE_BYTES (SIMPMU_RING_BYTES / 16)

/* Image number k uses slice k. */
struct image {
        struct sim_ring ring; /* slice NULL: it has ended */
        uint32_t pid;         /* 0: not yet known */
        bool damaged;
        struct heap_waiting waiting;
        struct heap_stacks stacks;
        size_t unreleased; /* events with one of this image's stacks */
        uint64_t awaited;  /* where the ring ended when the round began */
};

struct heap_transport {
        struct sim_memory memory;
        int bell[2];
        struct heap_preload preload;
        char *channel; /* CHANNEL_VARIABLE, as the target gets it */
        struct image *images;
        size_t image_count, image_capacity;
        size_t *active; /* images that have not ended, in order */
        size_t active_count, active_capacity;
        bool time_in_ticks;
        struct tick_clock clock;       /* of these */
        struct context_intern *latest; /* (0, pid) → its latest image + 1 */
        uint64_t damaged;
        void *record; /* the current record */
};

/* ---- opening and closing ---- */

static int open_channel(struct heap_transport *transport, struct diag *diag)
{
        int rc = sim_memory_open(&transport->memory, diag);
        if (rc < 0)
                return rc;
        if (pipe2(transport->bell, O_CLOEXEC | O_NONBLOCK) != 0)
                return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
        if (asprintf(&transport->channel, CHANNEL_VARIABLE "=%d:%d:%d", (int)getpid(),
                     transport->memory.fd, transport->bell[1]) < 0) {
                transport->channel = NULL;
                return diag_no_memory(diag);
        }
        return 0;
}

static int open_parts(struct heap_transport *transport, struct diag *diag)
{
        int rc = open_channel(transport, diag);
        if (rc < 0)
                return rc;
        transport->latest = context_intern_new();
        transport->record = malloc(SIM_RECORD_MAX_BYTES);
        if (!transport->latest || !transport->record)
                return diag_no_memory(diag);
        return heap_preload_find(&transport->preload, diag);
}

int heap_transport_open(bool call_graph, struct heap_transport **result,
                        struct diag *diag)
{
        struct heap_transport *transport = calloc(1, sizeof(*transport));
        if (!transport)
                return diag_no_memory(diag);
        transport->memory.fd = -1;
        transport->preload.directory = -1;
        transport->bell[0] = transport->bell[1] = -1;
        int rc = open_parts(transport, diag);
        if (rc < 0) {
                heap_transport_close(transport);
                return rc;
        }
        struct simpmu_control *control = transport->memory.control;
        control->stack_frames = call_graph ? HEAP_STACK_FRAMES : 0;
        control->version = SIMPMU_VERSION;
        control->time_in_ticks = transport->time_in_ticks = tick_clock_is_trusted();
        tick_clock_measure(&transport->clock);
        control->magic = SIMPMU_MAGIC;
        *result = transport;
        return 0;
}

void heap_transport_close(struct heap_transport *transport)
{
        if (!transport)
                return;
        if (transport->memory.control)
                __atomic_store_n(&transport->memory.control->stop, 1, __ATOMIC_SEQ_CST);
        for (size_t i = 0; i < transport->active_count; i++) {
                struct sim_ring *ring = &transport->images[transport->active[i]].ring;
                sim_ring_discard(ring);
                sim_memory_unmap(ring->slice);
        }
        sim_memory_close(&transport->memory);
        for (int i = 0; i < 2; i++)
                if (transport->bell[i] >= 0)
                        close(transport->bell[i]);
        for (size_t i = 0; i < transport->image_count; i++)
                heap_stacks_free(&transport->images[i].stacks);
        context_intern_free(transport->latest);
        heap_preload_free(&transport->preload);
        free(transport->channel);
        free(transport->images);
        free(transport->active);
        free(transport->record);
        free(transport);
}

int heap_transport_environment(struct heap_transport *transport, const char *command,
                               char **environment, char ***result, struct diag *diag)
{
        if (!program_in_path_takes_preload(command)) {
                transport->memory.control->programs_refused = 1;
                *result = environment;
                return 0;
        }
        return heap_preload_environment(&transport->preload, transport->channel,
                                        environment, result, diag);
}

const char *heap_transport_tracker(const struct heap_transport *transport)
{
        return transport->preload.real_path;
}

int heap_transport_poll_fd(const struct heap_transport *transport)
{
        return transport->bell[0];
}

/* ---- images ---- */

static int discover(struct heap_transport *transport, struct diag *diag)
{
        uint64_t claimed =
            __atomic_load_n(&transport->memory.control->slices_claimed, __ATOMIC_ACQUIRE);
        if (claimed > transport->memory.capacity)
                claimed = transport->memory.capacity;
        while (transport->image_count < claimed) {
                if (array_reserve(&transport->images, &transport->image_capacity,
                                  transport->image_count,
                                  sizeof(*transport->images)) < 0 ||
                    array_reserve(&transport->active, &transport->active_capacity,
                                  transport->active_count,
                                  sizeof(*transport->active)) < 0)
                        return diag_no_memory(diag);
                struct image image = {.ring.many_producers = true};
                image.ring.slice =
                    sim_memory_map(&transport->memory, transport->image_count, diag);
                if (!image.ring.slice)
                        return -ENOMEM;
                transport->active[transport->active_count++] = transport->image_count;
                transport->images[transport->image_count++] = image;
        }
        return 0;
}

static void retire(struct heap_transport *transport, size_t number)
{
        struct image *image = &transport->images[number];
        sim_memory_unmap(image->ring.slice);
        image->ring.slice = NULL;
        sim_memory_drop_ring(&transport->memory, number);
        sim_memory_drop_header(&transport->memory, number);
        if (image->unreleased == 0)
                heap_stacks_free(&image->stacks);
}

void heap_event_release(struct heap_transport *transport, const struct heap_event *event)
{
        if (!event->stack)
                return;
        struct image *image = &transport->images[event->stack->number];
        if (--image->unreleased == 0 && !image->ring.slice)
                heap_stacks_free(&image->stacks);
}

/* Returns true if no further record can come: the process has ended or has executed
 * another program. */
static bool has_ended(const struct heap_transport *transport, size_t number)
{
        const struct image *image = &transport->images[number];
        if (image->pid == 0)
                return false;
        if (context_intern_find(transport->latest, 0, image->pid) != (int64_t)number + 1)
                return true;
        return kill((pid_t)image->pid, 0) != 0 && errno == ESRCH;
}

static void forget_ended(struct heap_transport *transport)
{
        size_t kept = 0;
        for (size_t i = 0; i < transport->active_count; i++)
                if (transport->images[transport->active[i]].ring.slice)
                        transport->active[kept++] = transport->active[i];
        transport->active_count = kept;
}

static void give_up(struct heap_transport *transport, struct image *image)
{
        if (!image->damaged)
                transport->damaged++;
        image->damaged = true;
        sim_ring_discard(&image->ring);
}

/* ---- records ---- */

static void fill_alloc(struct image *image, const struct simpmu_alloc_at *alloc,
                       struct heap_event *event)
{
        static const char *const functions[HEAP_FUNCTION_COUNT] = {
#define FUNCTION(symbol, name) name,
            HEAP_FUNCTIONS(FUNCTION)
#undef FUNCTION
        };
        event->kind = HEAP_EVENT_ALLOC;
        event->function = functions[alloc->function];
        event->addr = alloc->addr;
        event->size_bytes = alloc->size_bytes;
        event->stack =
            alloc->stack ? heap_stacks_find(&image->stacks, alloc->stack) : NULL;
        if (event->stack)
                image->unreleased++;
}

static void fill_change(enum heap_event_kind kind, const struct simpmu_free *change,
                        struct heap_event *event)
{
        event->kind = kind;
        event->addr = change->addr;
}

static void fill_range(const struct simpmu_range_free *range, struct heap_event *event)
{
        event->kind = range->replaced ? HEAP_EVENT_REPLACED : HEAP_EVENT_UNMAP;
        event->addr = range->start;
        event->size_bytes = range->length_bytes;
}

/* The image's first record. */
static int begin(struct heap_transport *transport, size_t number,
                 const struct simpmu_process *process, struct diag *diag)
{
        struct image *image = &transport->images[number];
        struct context_node *latest =
            context_intern_place(transport->latest, 0, process->pid);
        if (!latest)
                return diag_no_memory(diag);
        latest->id = (int64_t)number + 1;
        image->pid = process->pid;
        return 0;
}

/* Converts the current record to an event. 1: an event; 0: another record; negative: no
 * memory. */
static int read_event(struct heap_transport *transport, size_t number,
                      struct heap_event *event, struct diag *diag)
{
        const struct simpmu_record *record = transport->record;
        const struct simpmu_stack *stack = transport->record;
        struct image *image = &transport->images[number];
        int rc = 0;
        *event = (struct heap_event){
            .time_ns = transport->time_in_ticks
                           ? (uint64_t)tick_clock_ns(&transport->clock, record->time_ns)
                           : record->time_ns,
            .tid = record->tid};
        if ((record->type == SIMPMU_PROCESS) != (image->pid == 0)) {
                give_up(transport, image);
                return 0;
        }
        switch (record->type) {
        case SIMPMU_PROCESS:
                rc = begin(transport, number, transport->record, diag);
                event->kind = HEAP_EVENT_PROCESS;
                break;
        case SIMPMU_STACK:
                return heap_stacks_add(&image->stacks, stack->hash, number, stack->frames,
                                       stack->depth)
                           ? diag_no_memory(diag)
                           : 0;
        case SIMPMU_ALLOC_AT:
                fill_alloc(image, transport->record, event);
                break;
        case SIMPMU_FREE:
                fill_change(HEAP_EVENT_FREE, transport->record, event);
                break;
        case SIMPMU_RESIZE:
                fill_change(HEAP_EVENT_RESIZE, transport->record, event);
                break;
        case SIMPMU_RESIZED:
                fill_change(HEAP_EVENT_RESIZED, transport->record, event);
                break;
        case SIMPMU_RANGE_FREE:
                fill_range(transport->record, event);
                break;
        default:
                give_up(transport, image);
                return 0;
        }
        event->pid = image->pid;
        return rc < 0 ? rc : 1;
}

/* Takes at most one ring's worth of records. Otherwise a fast process could starve the
 * other processes. */
static int take_records(struct heap_transport *transport, size_t number,
                        heap_event_handler handler, void *context, struct diag *diag)
{
        struct image *image = &transport->images[number];
        uint64_t begin = image->ring.tail, released = begin;
        const char *fault;
        int found, rc = 0;
        while (rc == 0 && !image->damaged &&
               image->ring.tail - begin < SIMPMU_RING_BYTES &&
               (found = sim_ring_peek(&image->ring, transport->record, &fault)) != 0) {
                struct heap_event event;
                if (found < 0) {
                        give_up(transport, image);
                        break;
                }
                sim_ring_pop(&image->ring, transport->record);
                rc = read_event(transport, number, &event, diag);
                if (rc > 0)
                        rc = handler(context, &event);
                if (image->ring.tail - released >= RELEASE_BYTES) {
                        sim_ring_release(&image->ring);
                        released = image->ring.tail;
                }
        }
        sim_ring_release(&image->ring);
        return rc;
}

bool heap_transport_awaits(const struct heap_transport *transport)
{
        for (size_t i = 0; i < transport->active_count; i++) {
                const struct image *image = &transport->images[transport->active[i]];
                if (!image->damaged && image->ring.tail < image->awaited)
                        return true;
        }
        return false;
}

/* A round continues until all records from before its start are taken. */
static void begin_round(struct heap_transport *transport)
{
        if (heap_transport_awaits(transport))
                return;
        for (size_t i = 0; i < transport->active_count; i++) {
                struct image *image = &transport->images[transport->active[i]];
                image->awaited = owner_head(image->ring.slice, image->ring.tail);
        }
}

int heap_transport_drain(struct heap_transport *transport, heap_event_handler handler,
                         void *context, struct diag *diag)
{
        char rings[512];
        while (read(transport->bell[0], rings, sizeof(rings)) > 0)
                ;
        tick_clock_measure(&transport->clock);
        int rc = discover(transport, diag);
        begin_round(transport);
        for (size_t i = 0; rc == 0 && i < transport->active_count; i++) {
                size_t number = transport->active[i];
                struct image *image = &transport->images[number];
                /* Checked before the ring: after the end the ring content is final. */
                bool ended = has_ended(transport, number);
                uint64_t tail = image->ring.tail;
                do
                        rc = take_records(transport, number, handler, context, diag);
                while (rc == 0 && !image->damaged &&
                       heap_waiting_passes_over(&image->waiting, &image->ring, image->pid,
                                                ended));
                if (image->damaged || heap_waiting_is_stuck(&image->waiting, &image->ring,
                                                            image->ring.tail != tail))
                        give_up(transport, image);
                image->waiting.at = image->ring.tail;
                if (ended)
                        retire(transport, number);
        }
        forget_ended(transport);
        return rc;
}

/* Looks up the sink's identifier of STACK in IMAGE. */
static int know_stack(struct sink *sink, image_key image, struct heap_stack *stack,
                      struct diag *diag)
{
        uint64_t frames[HEAP_STACK_FRAMES];
        heap_stack_frames(stack, frames);
        /* A leaf of the calling-context tree is a call instruction, not its return
         * address. The last byte of the call represents the call. */
        if (stack->depth)
                frames[0]--;
        int rc = sink_new_stack(sink, image, frames, stack->depth, &stack->id, diag);
        stack->image = image;
        return rc;
}

static int deliver_alloc(struct sink *sink, int64_t time_ns, image_key image,
                         const struct heap_event *event, struct diag *diag)
{
        struct heap_stack *stack = event->stack;
        int rc = 0;
        if (stack && stack->image != image)
                rc = know_stack(sink, image, stack, diag);
        return rc == 0
                   ? sink_allocation_at(sink, time_ns, image, event->tid, event->function,
                                        event->addr, event->size_bytes,
                                        stack ? stack->id : 0, diag)
                   : rc;
}

int heap_event_deliver(struct sink *sink, int64_t time_ns, image_key image,
                       const struct heap_event *event, struct diag *diag)
{
        switch (event->kind) {
        case HEAP_EVENT_ALLOC:
                return deliver_alloc(sink, time_ns, image, event, diag);
        case HEAP_EVENT_FREE:
                return sink_free(sink, time_ns, image, event->addr, diag);
        case HEAP_EVENT_RESIZE:
                return sink_resize(sink, image, event->tid, event->addr, diag);
        case HEAP_EVENT_RESIZED:
                return sink_resized(sink, time_ns, image, event->tid, event->addr, diag);
        case HEAP_EVENT_UNMAP:
                return sink_unmapping(sink, time_ns, image, event->addr,
                                      event->size_bytes, diag);
        case HEAP_EVENT_REPLACED:
                return sink_replaced(sink, time_ns, image, event->addr, event->size_bytes,
                                     diag);
        default:
                return 0;
        }
}

struct heap_transport_losses heap_transport_losses(const struct heap_transport *transport)
{
        uint64_t claimed =
            __atomic_load_n(&transport->memory.control->slices_claimed, __ATOMIC_RELAXED);
        uint64_t capacity = transport->memory.capacity;
        return (struct heap_transport_losses){
            .damaged = transport->damaged,
            .cut_off = __atomic_load_n(&transport->memory.control->heaps_cut_off,
                                       __ATOMIC_RELAXED),
            .refused = __atomic_load_n(&transport->memory.control->programs_refused,
                                       __ATOMIC_RELAXED),
            .untold = __atomic_load_n(&transport->memory.control->calls_untold,
                                      __ATOMIC_RELAXED),
            .beyond_capacity = claimed > capacity ? claimed - capacity : 0};
}
