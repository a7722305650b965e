/* SPDX-License-Identifier: MIT */
/* Fuzz target: anything a target can leave in the memory that it shares with memlag. The
 * simulated PMU's consumer or the heap tracker's reads it. The input is 2 bytes that
 * choose the consumer, 2 bytes with the size of the first process's ring, and both rings.
 * The rows go to row_writer.h. */
#include <fcntl.h>
#include <sys/mman.h>

#include "fuzz_target.h"
#include "heap_transport.h"
#include "row_writer.h"
#include "sim_images.h"
#include "simpmu/owner.h"
#include "simpmu/slice.h"
#include "sink.h"

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
                /* The end of the ring stands for the last interval's counters, too. */
                const size_t size = rings->size[i] < sizeof(struct simpmu_counters)
                                        ? rings->size[i]
                                        : sizeof(struct simpmu_counters);
                memcpy(slice_latest_counters(slice, 0),
                       rings->bytes[i] + rings->size[i] - size, size);
                slice->head = (rings->size[i] + 7) / 8 * 8;
                uint64_t last_bytes = slice->head < 4096 ? slice->head : 4096;
                slice->latest = owner_note(
                    (struct owner){slice->head - last_bytes, last_bytes, (uint32_t)i});
                slice->magic = SIMPMU_MAGIC;
                munmap(slice, SIMPMU_SLICE_BYTES);
        }
        control->slices_claimed = 2;
}

/* A sink for a consumer's output, with the rows' WRITER. */
static struct sink *open_sink(struct writer *writer)
{
        struct sink *sink;
        struct diag diag;
        *writer = (struct writer){.expects_blocks = true};
        if (sink_open(writer, &sink, &diag) < 0)
                abort();
        return sink;
}

static void close_sink(struct sink *sink)
{
        struct diag diag;
        if (sink_finish(sink, &diag) < 0)
                abort();
        sink_close(sink);
}

static void take_simulated(const struct rings *rings)
{
        struct writer writer;
        struct sink *sink = open_sink(&writer);
        struct sim_memory memory;
        struct diag diag;
        if (sim_memory_open(&memory, &diag) < 0)
                abort();
        struct sim_images *images = sim_images_new(&memory, sink, true);
        fill(memory.fd, memory.control, rings);
        if (!images || sim_images_drain(images, &diag) < 0 ||
            sim_images_finish(images, &diag) < 0)
                abort();
        sim_images_free(images);
        sim_memory_close(&memory);
        close_sink(sink);
}

enum { NATIVE_IMAGE = 1 }; /* its process, whichever ring its blocks are in */

struct listener {
        struct heap_transport *transport;
        struct sink *sink;
};

static int take_event(void *context, const struct heap_event *event)
{
        const struct listener *listener = context;
        struct diag diag;
        int rc = heap_event_deliver(listener->sink, 0, NATIVE_IMAGE, event, &diag);
        heap_event_release(listener->transport, event);
        return rc;
}

static void take_native(const struct rings *rings)
{
        static char *nothing[] = {NULL};
        const struct event_process process = {NATIVE_IMAGE, 0, 100, "program", false};
        struct writer writer;
        struct sink *sink = open_sink(&writer);
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
        if (sink_process(sink, 0, &process, &diag) < 0)
                abort();
        struct listener listener = {transport, sink};
        for (int i = 0; i < 2; i++)
                if (heap_transport_drain(transport, take_event, &listener, &diag) < 0)
                        abort();
        heap_transport_close(transport);
        close_sink(sink);
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
