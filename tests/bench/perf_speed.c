/* SPDX-License-Identifier: MIT */
/* perf_speed DATABASE: samples a second that one core decodes out of a ring, and that it
 * writes to a sample database on the way of every perf source. The samples are those of
 * load latency events, without call stacks, of 8 threads and 5000 instructions. */
#include <linux/perf_event.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring.h"
#include "perf_deliver.h"
#include "sink.h"

enum { RING_BYTES = 512 << 10, DECODED = 20000000, WRITTEN = 2000000 };

#define SAMPLE_TYPE                                                                      \
        (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
         PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |                       \
         PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC)

struct sample {
        struct perf_event_header header;
        uint64_t id, ip;
        uint32_t pid, tid;
        uint64_t time, addr;
        uint32_t cpu, reserved;
        uint64_t period, weight, data_src;
};

static struct diag diag;
static struct perf_event_mmap_page page;
static alignas(8) uint8_t data[RING_BYTES];

static void check(int rc)
{
        if (rc >= 0)
                return;
        fprintf(stderr, "perf_speed: %s\n", diag.text);
        exit(1);
}

static double cpu_seconds(void)
{
        struct timespec now;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void put(const void *bytes, size_t size)
{
        size_t offset = page.data_head % RING_BYTES;
        size_t first = size < RING_BYTES - offset ? size : RING_BYTES - offset;
        memcpy(data + offset, bytes, first);
        memcpy(data, (const uint8_t *)bytes + first, size - first);
        page.data_head += size;
}

/* As many as fit; their number. */
static uint64_t fill(uint64_t number)
{
        static const uint64_t levels[] = {1, 2, 3, 0xc, 0xd}; /* L1, L2, L3, LFB, RAM */
        uint64_t first = number;
        while (page.data_head + sizeof(struct sample) - page.data_tail <= RING_BYTES) {
                uint64_t random = number * UINT64_C(0x9e3779b97f4a7c15) >> 32;
                struct sample sample = {
                    .header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample)},
                    .id = 1,
                    .ip = 0x401000 + random % 5000,
                    .pid = 100,
                    .tid = 100 + (uint32_t)number % 8,
                    .time = number * 1000,
                    .addr = 0x7f0000000000 + random * 64,
                    .cpu = (uint32_t)number % 8,
                    .period = 1009,
                    .weight = random % 500,
                    .data_src = UINT64_C(2) << PERF_MEM_OP_SHIFT |
                                levels[random % 5] << PERF_MEM_LVLNUM_SHIFT |
                                UINT64_C(0xa) << PERF_MEM_TLB_SHIFT};
                put(&sample, sizeof(sample));
                number++;
        }
        return number - first;
}

static double decode_all(struct ring *ring, const struct record_layout *layout)
{
        double seconds = 0;
        uint64_t sum = 0;
        for (uint64_t done = 0; done < DECODED;) {
                done += fill(done);
                double start = cpu_seconds();
                const void *bytes;
                size_t size;
                struct record record;
                while ((bytes = ring_next(ring, &size)))
                        if (record_decode(layout, bytes, size, &record) == 0)
                                sum += record.sample.addr;
                ring_release(ring);
                seconds += cpu_seconds() - start;
        }
        if (sum == 0)
                exit(1);
        return DECODED / seconds;
}

static double write_all(const char *path, struct ring *ring,
                        const struct perf_stream *stream)
{
        struct db *db;
        struct writer *writer;
        struct sink *sink;
        check(db_create(path, true, &db, &diag));
        check(writer_open(db, &writer, &diag));
        check(sink_open(writer, &sink, &diag));
        struct perf_deliver *deliver = perf_deliver_new(sink);
        double seconds = 0;
        for (uint64_t done = 0; done < WRITTEN;) {
                done += fill(done);
                double start = cpu_seconds();
                const void *bytes;
                size_t size;
                struct record record;
                while ((bytes = ring_next(ring, &size)))
                        if (record_decode(&stream->layout, bytes, size, &record) == 0)
                                check(perf_deliver_record(deliver,
                                                          (int64_t)record.id.time, stream,
                                                          &record, &diag));
                ring_release(ring);
                seconds += cpu_seconds() - start;
        }
        double start = cpu_seconds();
        check(sink_finish(sink, &diag));
        check(writer_close(writer, &diag));
        db_close(db);
        seconds += cpu_seconds() - start;
        perf_deliver_free(deliver);
        sink_close(sink);
        return WRITTEN / seconds;
}

int main(int argc, char **argv)
{
        if (argc != 2)
                return 2;
        struct ring *ring;
        const struct perf_stream stream = {
            .layout = {.sample_type = SAMPLE_TYPE, .sample_id_all = true}};
        check(ring_over(&page, data, RING_BYTES, &ring, &diag));
        printf("decoded %.0f\n", decode_all(ring, &stream.layout));
        printf("written %.0f\n", write_all(argv[1], ring, &stream));
        ring_close(ring);
        return 0;
}
