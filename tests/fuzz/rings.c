/* SPDX-License-Identifier: MIT */
/* Fuzz target: what a target can leave in the memory that it shares with memlag, taken
 * out by the simulated PMU's consumer or the heap tracker's. The input is 2 bytes that
 * choose the consumer, 2 that say how many bytes lie in the first process's ring, these,
 * and the rest for the second. The sink is one that reads every byte that it is given. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "db.h"
#include "heap_transport.h"
#include "sim_images.h"
#include "simpmu/owner.h"
#include "simpmu/slice.h"
#include "target.h"

/* ---- a sink ---- */

struct sink {
        volatile uint64_t sum;
};

static void read_all(struct sink *sink, const void *bytes, size_t size)
{
        for (size_t i = 0; i < size; i++)
                sink->sum += ((const uint8_t *)bytes)[i];
}

int sink_process(struct sink *sink, int64_t time_ns, const struct event_process *event,
                 struct diag *diag)
{
        (void)time_ns, (void)diag;
        read_all(sink, event->executable, strlen(event->executable));
        return 0;
}

int sink_fork(struct sink *sink, image_key parent, image_key child, struct diag *diag)
{
        (void)diag;
        sink->sum += parent + child;
        return 0;
}

int sink_process_end(struct sink *sink, int64_t time_ns, image_key image,
                     struct diag *diag)
{
        (void)time_ns, (void)diag;
        sink->sum += image;
        return 0;
}

int sink_thread(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                const char *name, struct diag *diag)
{
        (void)time_ns, (void)image, (void)name, (void)diag;
        sink->sum += tid;
        return 0;
}

int sink_thread_end(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                    struct diag *diag)
{
        return sink_thread(sink, time_ns, image, tid, NULL, diag);
}

int sink_mapping(struct sink *sink, int64_t time_ns, const struct event_mapping *event,
                 struct diag *diag)
{
        (void)time_ns, (void)diag;
        if (event->path)
                read_all(sink, event->path, strlen(event->path));
        return 0;
}

int sink_unmapping(struct sink *sink, int64_t time_ns, image_key image, uint64_t start,
                   uint64_t length, struct diag *diag)
{
        (void)time_ns, (void)image, (void)diag;
        sink->sum += start + length;
        return 0;
}

int sink_replaced(struct sink *sink, int64_t time_ns, image_key image, uint64_t start,
                  uint64_t length, struct diag *diag)
{
        return sink_unmapping(sink, time_ns, image, start, length, diag);
}

int sink_sample(struct sink *sink, int64_t time_ns, const struct event_sample *event,
                struct diag *diag)
{
        (void)time_ns, (void)diag;
        read_all(sink, event->frames, event->depth * sizeof(event->frames[0]));
        if (event->other_depth)
                read_all(sink, event->other_frames,
                         event->other_depth * sizeof(event->other_frames[0]));
        read_all(sink, event->data_source->level, strlen(event->data_source->level));
        return 0;
}

int sink_counters(struct sink *sink, int64_t start_ns, int64_t end_ns, image_key image,
                  uint32_t tid, const struct event_counter *counters, size_t count,
                  struct diag *diag)
{
        (void)start_ns, (void)end_ns, (void)image, (void)tid, (void)diag;
        for (size_t i = 0; i < count; i++)
                read_all(sink, counters[i].name, strlen(counters[i].name));
        return 0;
}

int sink_allocation(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                    const char *function, uint64_t addr, uint64_t size_bytes,
                    const uint64_t *frames, size_t depth, struct diag *diag)
{
        (void)time_ns, (void)image, (void)tid, (void)diag;
        sink->sum += addr + size_bytes;
        read_all(sink, function, strlen(function));
        read_all(sink, frames, depth * sizeof(frames[0]));
        return 0;
}

int sink_new_stack(struct sink *sink, image_key image, const uint64_t *frames,
                   size_t depth, int64_t *stack, struct diag *diag)
{
        (void)image, (void)diag;
        read_all(sink, frames, depth * sizeof(frames[0]));
        *stack = 1;
        return 0;
}

int sink_allocation_at(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                       const char *function, uint64_t addr, uint64_t size_bytes,
                       int64_t stack, struct diag *diag)
{
        sink->sum += (uint64_t)stack;
        return sink_allocation(sink, time_ns, image, tid, function, addr, size_bytes,
                               NULL, 0, diag);
}

int sink_free(struct sink *sink, int64_t time_ns, image_key image, uint64_t addr,
              struct diag *diag)
{
        return sink_unmapping(sink, time_ns, image, addr, 0, diag);
}

int sink_resize(struct sink *sink, image_key image, uint32_t tid, uint64_t addr,
                struct diag *diag)
{
        return sink_free(sink, tid, image, addr, diag);
}

int sink_resized(struct sink *sink, int64_t time_ns, image_key image, uint32_t tid,
                 uint64_t addr, struct diag *diag)
{
        return sink_free(sink, time_ns + tid, image, addr, diag);
}

int sink_executed(struct sink *sink, image_key image, uint64_t ip, struct diag *diag)
{
        (void)diag;
        sink->sum += image + ip;
        return 0;
}

int sink_line_use(struct sink *sink, image_key image, uint64_t watch, uint64_t used,
                  struct diag *diag)
{
        (void)diag;
        sink->sum += image + watch + used;
        return 0;
}

int sink_line_reuse(struct sink *sink, image_key image, uint64_t watch,
                    int64_t cache_bytes, struct diag *diag)
{
        if (cache_bytes < 0)
                abort();
        return sink_line_use(sink, image, watch, (uint64_t)cache_bytes, diag);
}

int sink_unhandled(struct sink *sink, image_key image, uint64_t ip, const uint8_t *bytes,
                   size_t length, struct diag *diag)
{
        (void)diag;
        sink->sum += image + ip;
        read_all(sink, bytes, length);
        return 0;
}

int sink_loss(struct sink *sink, const char *kind, uint64_t count, const char *unit,
              struct diag *diag)
{
        (void)diag;
        read_all(sink, kind, strlen(kind));
        read_all(sink, unit, strlen(unit));
        sink->sum += count;
        return 0;
}

int sink_machine(struct sink *sink, const char *key, double value, const char *unit,
                 const char *origin, struct diag *diag)
{
        (void)sink, (void)key, (void)value, (void)unit, (void)origin, (void)diag;
        return 0;
}

/* ---- the target ---- */

struct rings {
        const uint8_t *bytes[2];
        size_t size[2];
};

/* Puts the bytes where processes 0 and 1 would. */
static void fill(int fd, struct simpmu_control *control, const struct rings *rings)
{
        for (uint64_t i = 0; i < 2; i++) {
                struct simpmu_slice *slice =
                    mmap(NULL, SIMPMU_SLICE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                         (off_t)slice_offset(i));
                if (slice == MAP_FAILED)
                        abort();
                memcpy((char *)slice + SIMPMU_SLICE_HEADER_BYTES, rings->bytes[i],
                       rings->size[i]);
                slice->head = (rings->size[i] + 7) / 8 * 8;
                uint64_t last_bytes = slice->head < 4096 ? slice->head : 4096;
                slice->latest = owner_note(
                    (struct owner){slice->head - last_bytes, last_bytes, (uint32_t)i});
                slice->magic = SIMPMU_MAGIC;
                munmap(slice, SIMPMU_SLICE_BYTES);
        }
        control->slices_claimed = 2;
}

static void take_simulated(const struct rings *rings)
{
        struct sink sink = {0};
        struct sim_memory memory;
        struct diag diag;
        if (sim_memory_open(&memory, &diag) < 0)
                abort();
        struct sim_images *images = sim_images_new(&memory, &sink, true);
        fill(memory.fd, memory.control, rings);
        if (!images || sim_images_drain(images, &diag) < 0 ||
            sim_images_finish(images, &diag) < 0)
                abort();
        sim_images_free(images);
        sim_memory_close(&memory);
}

struct listener {
        struct heap_transport *transport;
        struct sink *sink;
};

static int take_event(void *context, const struct heap_event *event)
{
        const struct listener *listener = context;
        struct diag diag;
        int rc = heap_event_deliver(listener->sink, 0, 1, event, &diag);
        heap_event_release(listener->transport, event);
        return rc;
}

static void take_native(const struct rings *rings)
{
        static char *nothing[] = {NULL};
        struct sink sink = {0};
        struct heap_transport *transport;
        struct diag diag;
        char **environment;
        int fd;
        if (heap_transport_open(true, &transport, &diag) < 0 ||
            heap_transport_environment(transport, "/bin/true", nothing, &environment,
                                       &diag) < 0 ||
            sscanf(environment[1], "%*[^:]:%d", &fd) != 1)
                abort();
        struct simpmu_control *control =
            mmap(NULL, SIMPMU_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (control == MAP_FAILED)
                abort();
        fill(fd, control, rings);
        munmap(control, SIMPMU_CONTROL_BYTES);
        struct listener listener = {transport, &sink};
        for (int i = 0; i < 2; i++)
                if (heap_transport_drain(transport, take_event, &listener, &diag) < 0)
                        abort();
        heap_transport_close(transport);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint16_t header[2];
        if (size < sizeof(header))
                return 0;
        memcpy(header, data, sizeof(header));
        data += sizeof(header);
        size -= sizeof(header);
        size_t first = header[1] < size ? header[1] : size;
        const struct rings rings = {{data, data + first}, {first, size - first}};
        if (header[0] & 1)
                take_native(&rings);
        else
                take_simulated(&rings);
        return 0;
}
