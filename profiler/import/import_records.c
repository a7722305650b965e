/* SPDX-License-Identifier: MIT */
/* See import_records.h. */
#include "import_records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db.h"
#include "intern.h"
#include "perf/records/order.h"
#include "perf/records/retire_latency.h"
#include "perf_data.h"
#include "perf_deliver.h"
#include "sampled_counters.h"
#include "sink.h"
#include "user_stack.h"

/* Size limit of the records that wait for the end of their round. perf ends a round
 * after each pass over its buffers; rounds are small unless perf was delayed. */
#define QUEUE_BYTES (UINT64_C(64) << 20)

/* Maximum length of a recording: 200 years. Sums of times fit, too. */
#define LONGEST_NS (UINT64_C(200) * 365 * 86400 * 1000000000)

static bool find_event(void *context, uint64_t id, struct sampled_event *event)
{
        const struct events *events = context;
        size_t index;
        if (!events_find(events, id, &index))
                return false;
        *event = (struct sampled_event){&events->items[index]->attr,
                                        events->items[index]->name};
        return true;
}

/* perf's description of the machine comes before the samples, or never. */
static void ask_of_machine(struct import_records *records)
{
        const struct features *features = perf_data_features(records->data);
        const char *cpuid = features_text(features, "cpuid");
        long family, model;
        sampled_counters_cpu(records->counters, cpuid);
        if (sscanf(cpuid, "GenuineIntel,%ld,%ld", &family, &model) == 2 &&
            retire_latency_known(family, model, features_text(features, "kernel")))
                perf_deliver_set_retire_latency(records->deliver);
        records->machine_asked = true;
}

static int count_sample(struct import_records *records,
                        const struct perf_data_event *event, const struct record *record)
{
        struct sampled_event sampled = {&event->attr, event->name};
        return sampled_counters_add(
            records->counters, records->latest_ns, &sampled, record, find_event,
            (void *)perf_data_events(records->data), records->diag);
}

static bool ends_an_image(const struct record *record)
{
        return record->kind == RECORD_EXIT ||
               (record->kind == RECORD_COMM && record->comm.exec);
}

/* Finds the entry of PATH in the recording's list of build-ids; NULL: not listed. */
static int find_build_id(struct import_records *records, const char *path,
                         const struct build_id **found)
{
        const struct features *features = perf_data_features(records->data);
        *found = NULL;
        while (records->build_ids_indexed < features->build_id_count) {
                const char *known = features->build_ids[records->build_ids_indexed].path;
                int64_t *place =
                    intern_place(records->build_id_index, known, strlen(known));
                if (!place)
                        return -ENOMEM;
                *place = (int64_t)++records->build_ids_indexed;
        }
        if (features->build_id_count == 0)
                return 0;
        int64_t *place = intern_place(records->build_id_index, path, strlen(path));
        if (place && *place > 0)
                *found = &features->build_ids[*place - 1];
        return place ? 0 : -ENOMEM;
}

/* A file stores the build-ids of sampled modules in a separate list. */
static int set_build_id(struct import_records *records, struct record_mmap *map)
{
        const struct build_id *entry;
        if (map->build_id_bytes)
                return 0;
        if (find_build_id(records, map->path, &entry) < 0)
                return diag_no_memory(records->diag);
        if (entry) {
                memcpy(map->build_id, entry->bytes, entry->length);
                map->build_id_bytes = entry->length;
        }
        return 0;
}

/* Events with PERF_FORMAT_LOST count their lost records; perf reports the sum at the end
 * as losses of the CPU. The kernel has reported most losses before, record by record. */
static bool is_retold(const struct record *record, const struct record_layout *layout)
{
        const uint64_t format_lost = 1u << 4; /* newer than some kernels' headers */

        return record->kind == RECORD_LOST_SAMPLES && (layout->read_format & format_lost);
}

/* The order's handler: RECORD_BYTES in the order of times. */
static int deliver(void *context, uint64_t time, const void *tag,
                   const void *record_bytes, size_t size)
{
        struct import_records *records = context;
        const struct perf_data_event *event = tag;
        struct perf_stream stream = {.layout = event->layout};
        struct record record;
        if (record_decode(&event->layout, record_bytes, size, &record) < 0)
                return 0; /* it was decoded before */
        if (!records->has_base && time) {
                records->has_base = true;
                records->base_time = time;
        }
        uint64_t since_base = time - records->base_time;
        if (time < records->base_time)
                records->early += time != 0;
        else if (since_base > LONGEST_NS)
                records->impossible++;
        else
                records->latest_ns = (int64_t)since_base;
        int rc = record.kind == RECORD_MMAP ? set_build_id(records, &record.mmap) : 0;
        if (rc == 0)
                rc = sampled_counters_advance(records->counters, records->latest_ns,
                                              ends_an_image(&record), records->diag);
        if (record.kind == RECORD_SAMPLE && !records->machine_asked)
                ask_of_machine(records);
        if (record.kind == RECORD_LOST)
                records->lost += record.lost.count;
        if (is_retold(&record, &event->layout))
                records->lost_retold += record.lost.count;
        else if (rc == 0)
                rc = perf_deliver_record(records->deliver, records->latest_ns, &stream,
                                         &record, records->diag);
        return rc == 0 && record.kind == RECORD_SAMPLE
                   ? count_sample(records, event, &record)
                   : rc;
}

/* Returns the time of RECORD; 0: it has none. */
static uint64_t time_of(const struct record *record)
{
        if (record->id.present & PERF_SAMPLE_TIME)
                return record->id.time;
        if (record->kind == RECORD_FORK || record->kind == RECORD_EXIT)
                return record->task.time;
        return 0;
}

/* Records without a time, such as the records that perf makes from /proc, take the time
 * of their position. */
static int take_record(struct import_records *records, const struct perf_data_item *item,
                       struct diag *diag)
{
        struct record record;
        struct perf_event_header header;
        memcpy(&header, item->bytes, sizeof(header));
        bool sample = header.type == PERF_RECORD_SAMPLE;
        if (!item->event)
                return sink_loss(records->sink, "samples of an unknown event", sample,
                                 "samples", diag);
        if (sample && item->event->unreadable) {
                records->unreadable_samples++;
                return sink_loss(records->sink, "samples with fields newer than memlag",
                                 1, "samples", diag);
        }
        if (record_decode(&item->event->layout, item->bytes, item->size, &record) < 0)
                return diag_set(diag, -EBADMSG,
                                "offset %llu: a record of type %u and %zu bytes does not "
                                "have the fields that its event says",
                                (unsigned long long)item->offset_bytes, header.type,
                                item->size);
        records->has_samples |= sample;
        if (record.kind == RECORD_OTHER)
                return 0;
        uint64_t time = time_of(&record);
        records->diag = diag;
        if (time == 0)
                return deliver(records, 0, item->event, item->bytes, item->size);
        int rc = order_add(records->order, time, item->event, item->bytes, item->size);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

static int take_round(struct import_records *records, struct diag *diag)
{
        records->diag = diag;
        int rc = order_round(records->order);
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

int import_records_flush(struct import_records *records, struct diag *diag)
{
        records->diag = diag;
        int rc = order_flush(records->order);
        if (rc == -ENOMEM)
                diag_no_memory(diag);
        if (rc == 0)
                rc = sampled_counters_advance(records->counters, records->latest_ns + 1,
                                              true, diag);
        if (rc == 0)
                rc = perf_tasks_finish(perf_deliver_tasks(records->deliver), diag);
        return rc == 0 ? sink_finish(records->sink, diag) : rc;
}

/* Shows the progress on a terminal. */
static void show_progress(const struct import_records *records)
{
        uint64_t read_bytes, all_bytes;
        perf_data_progress(records->data, &read_bytes, &all_bytes);
        if (all_bytes)
                fprintf(stderr, "\r%3.0f %% of %llu MB",
                        100.0 * (double)read_bytes / (double)all_bytes,
                        (unsigned long long)all_bytes >> 20);
        else
                fprintf(stderr, "\r%llu MB", (unsigned long long)read_bytes >> 20);
}

int import_records_take(struct import_records *records, struct diag *diag)
{
        enum { RECORDS_BETWEEN_SIGNS = 1 << 17 };
        struct perf_data_item item = {.kind = PERF_DATA_ROUND};
        bool terminal = isatty(STDERR_FILENO);
        int rc = 0;
        for (uint64_t count = 1; rc == 0; count++) {
                rc = perf_data_next(records->data, &item, diag);
                if (terminal && count % RECORDS_BETWEEN_SIGNS == 0)
                        show_progress(records);
                if (rc < 0 || item.kind == PERF_DATA_END) {
                        if (terminal && count >= RECORDS_BETWEEN_SIGNS)
                                fputs("\r\033[K", stderr);
                        return rc;
                }
                rc = item.kind == PERF_DATA_ROUND ? take_round(records, diag)
                                                  : take_record(records, &item, diag);
        }
        return rc;
}

int import_records_open(struct import_records *records, struct perf_data *data,
                        struct sink *sink, const char *symfs, uint64_t interval_ns,
                        struct diag *diag)
{
        *records = (struct import_records){.data = data, .sink = sink};
        records->deliver = perf_deliver_new(sink);
        records->counters =
            sampled_counters_new(sink, records->deliver, (int64_t)interval_ns);
        records->order = order_new(QUEUE_BYTES, deliver, records);
        records->user_stacks = user_stacks_new(symfs, false);
        records->build_id_index = intern_new();
        if (!records->deliver || !records->counters || !records->order ||
            !records->user_stacks || !records->build_id_index)
                return diag_no_memory(diag);
        perf_deliver_set_user_stacks(records->deliver, records->user_stacks);
        return 0;
}

void import_records_close(struct import_records *records)
{
        order_free(records->order);
        sampled_counters_free(records->counters);
        perf_deliver_free(records->deliver);
        user_stacks_free(records->user_stacks);
        intern_free(records->build_id_index);
}
