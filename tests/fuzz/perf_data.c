/* SPDX-License-Identifier: MIT */
/* Fuzz target: the reader of recordings with the queue behind it. The input is a whole
 * recording, as a file and, where it has that form, through a pipe. Every record is
 * decoded, and every byte that the reader keeps is read. */
#include "perf_data.h"
#include "fuzz_target.h"
#include "input_file.h"
#include "order.h"

enum { QUEUE_BYTES = 1 << 16 };

static volatile uint64_t kept; /* the compiler must not drop reads */

/* The order's handler. */
static int take(void *context, uint64_t time, const void *tag, const void *bytes,
                size_t size)
{
        const struct perf_data_event *event = tag;
        struct record record;
        if (record_decode(&event->layout, bytes, size, &record) == 0)
                kept += record.misc + time;
        return 0;
}

static void read_records(struct perf_data *data, struct order *order)
{
        struct perf_data_item item;
        struct diag diag;
        while (perf_data_next(data, &item, &diag) == 0 && item.kind != PERF_DATA_END) {
                struct record record;
                if (item.kind == PERF_DATA_ROUND) {
                        order_round(order);
                        continue;
                }
                if (item.event && record_decode(&item.event->layout, item.bytes,
                                                item.size, &record) == 0)
                        order_add(order, record.id.time, item.event, item.bytes,
                                  item.size);
        }
        order_flush(order);
}

static void read_facts(const struct perf_data *data)
{
        const struct events *events = perf_data_events(data);
        const struct features *features = perf_data_features(data);
        for (size_t i = 0; i < events->count; i++)
                kept += events->items[i]->name ? strlen(events->items[i]->name) : 0;
        for (size_t i = 0; i < features->fact_count; i++)
                kept += features->facts[i].text ? strlen(features->facts[i].text) : 1;
        for (size_t i = 0; i < features->build_id_count; i++)
                kept += strlen(features->build_ids[i].path) +
                        features->build_ids[i].bytes[19];
        for (char **word = features->command; word && *word; word++)
                kept += strlen(*word);
        kept += perf_data_damage(data) != NULL;
}

static void read_recording(int fd)
{
        struct perf_data *data;
        struct diag diag;
        struct order *order = order_new(QUEUE_BYTES, take, NULL);
        if (!order)
                abort();
        if (perf_data_open(fd, &data, &diag) == 0) {
                read_records(data, order);
                read_facts(data);
                perf_data_close(data);
        }
        order_free(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct input_file file = input_file(data, size);
        read_recording(file.fd);
        close(file.fd);
        int ends[2];
        if (pipe(ends) != 0)
                abort();
        bool sent =
            size > 16 && data[8] == 16 && write(ends[1], data, size) == (ssize_t)size;
        close(ends[1]);
        if (sent)
                read_recording(ends[0]);
        close(ends[0]);
        return 0;
}
