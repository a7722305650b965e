/* SPDX-License-Identifier: MIT */
/* Fuzz target: the record decoder, and its callers' use of the results. The input is a
 * layout of six 8-byte values, in the order of struct record_layout, and a stream of
 * records. Every byte that a decoded record points to is read: a sanitizer sees a pointer
 * that leads out of the record. */
#include <linux/perf_event.h>

#include "datasrc.h"
#include "fuzz_target.h"
#include "record.h"

enum { LAYOUT_VALUES = 6 };

static uint64_t sum_bytes(const void *bytes, size_t size)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < size; i++)
                sum += ((const uint8_t *)bytes)[i];
        return sum;
}

static uint64_t sum_read(const struct record_read *read)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < read->count; i++) {
                struct record_value value = record_read_value(read, i);
                sum += value.value + value.id + value.lost;
        }
        return sum;
}

static uint64_t sum_regs(const struct record_regs *regs)
{
        uint64_t sum = 0;
        for (unsigned number = 0; number < 70; number++) {
                uint64_t value;
                if (record_register(regs, number, &value))
                        sum += value;
        }
        return sum;
}

static uint64_t sum_sample(const struct record_sample *sample, uint64_t sample_type)
{
        struct data_source_row row;
        datasrc_decode(sample->data_src, &row);
        return sum_bytes(sample->callchain, sample->callchain_count * 8) +
               sum_bytes(sample->raw, sample->raw_bytes) +
               sum_bytes(sample->branches, sample->branch_count * 24) +
               sum_bytes(sample->user_stack, sample->user_stack_bytes) +
               sum_bytes(sample->aux, sample->aux_bytes) + sum_regs(&sample->user_regs) +
               sum_regs(&sample->intr_regs) + sum_read(&sample->read) +
               strlen(row.level) + strlen(row.tlb) + strlen(row.snoop) + strlen(row.op) +
               datasrc_weight(sample_type, sample->weight).latency_cycles;
}

static uint64_t sum_record(const struct record *record, uint64_t sample_type)
{
        switch (record->kind) {
        case RECORD_SAMPLE:
                return sum_sample(&record->sample, sample_type);
        case RECORD_MMAP:
                return strlen(record->mmap.path) +
                       sum_bytes(record->mmap.build_id, record->mmap.build_id_bytes);
        case RECORD_COMM:
                return strlen(record->comm.name);
        default:
                return record->type;
        }
}

/* Values read without decoding must equal the decoded ones. */
static void check_peeks(const struct record_layout *layout, const void *bytes,
                        size_t size, const struct record *record)
{
        uint64_t time;
        uint64_t id;
        bool identified = record_identifier(bytes, size, &id);
        bool timed = record_time(layout, bytes, size, &time);
        if (record->kind == RECORD_UNKNOWN)
                return;
        if (record->id.present & PERF_SAMPLE_TIME && (!timed || time != record->id.time))
                abort();
        /* With PERF_SAMPLE_ID too, the record may say two different things. */
        if (record->id.present & PERF_SAMPLE_IDENTIFIER &&
            !(layout->sample_type & PERF_SAMPLE_ID) &&
            (!identified || id != record->id.id))
                abort();
}

/* The record in a separate buffer, where a sanitizer sees a read beyond its end. */
static uint64_t decode_alone(const struct record_layout *layout, const uint8_t *data,
                             size_t size)
{
        struct record record;
        uint64_t sum = 0;
        void *copy = malloc(size);
        if (!copy)
                abort();
        memcpy(copy, data, size);
        if (record_decode(layout, copy, size, &record) == 0) {
                check_peeks(layout, copy, size, &record);
                sum = sum_record(&record, layout->sample_type);
        }
        free(copy);
        return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint64_t head[LAYOUT_VALUES];
        if (size < sizeof(head))
                return 0;
        memcpy(head, data, sizeof(head));
        const struct record_layout layout = {
            .sample_type = head[0],
            .branch_sample_type = head[1],
            .read_format = head[2],
            .sample_regs_user = head[3],
            .sample_regs_intr = head[4],
            .sample_id_all = head[5] & 1,
        };
        static volatile uint64_t sink; /* the compiler must not drop reads */
        size_t length;
        for (size_t at = sizeof(head); at < size; at += length) {
                length = record_size(data + at, size - at);
                if (length == 0 || length > size - at)
                        break;
                sink += decode_alone(&layout, data + at, length);
        }
        return 0;
}
