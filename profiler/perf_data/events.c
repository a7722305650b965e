/* SPDX-License-Identifier: MIT */
/* The first event determines the position of the id in a record, as in perf: all events
 * of one recording use the same position. */
#include "events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

int events_open(struct events *events, struct diag *diag)
{
        *events = (struct events){.ids = context_intern_new()};
        return events->ids ? 0 : diag_no_memory(diag);
}

void events_close(struct events *events)
{
        for (size_t i = 0; i < events->count; i++) {
                free(events->items[i]->name);
                free(events->items[i]);
        }
        free(events->items);
        context_intern_free(events->ids);
        *events = (struct events){0};
}

int events_add(struct events *events, const void *attr, size_t size, struct diag *diag)
{
        if (size < PERF_ATTR_SIZE_VER0)
                return diag_set(diag, -EBADMSG,
                                "an event's attributes have %zu bytes; they have at "
                                "least %d",
                                size, PERF_ATTR_SIZE_VER0);
        struct perf_data_event **items = reallocarray(events->items, events->count + 1,
                                                      sizeof(struct perf_data_event *));
        if (!items)
                return diag_no_memory(diag);
        events->items = items;
        struct perf_data_event *event = calloc(1, sizeof(*event));
        if (!event)
                return diag_no_memory(diag);
        memcpy(&event->attr, attr,
               size < sizeof(event->attr) ? size : sizeof(event->attr));
        event->unreadable = record_layout(&event->attr, &event->layout) < 0;
        items[events->count++] = event;
        return 0;
}

int events_add_ids(struct events *events, size_t index, const void *ids, size_t count,
                   struct diag *diag)
{
        for (size_t i = 0; i < count; i++) {
                uint64_t id;
                memcpy(&id, (const uint8_t *)ids + 8 * i, sizeof(id));
                struct context_node *node = context_intern_place(events->ids, 0, id);
                if (!node)
                        return diag_no_memory(diag);
                node->id = (int64_t)index + 1;
        }
        return 0;
}

int events_set_name(struct events *events, size_t index, const char *text, size_t length,
                    struct diag *diag)
{
        if (index >= events->count || strnlen(text, length) == 0)
                return 0;
        char *name = strndup(text, length);
        if (!name)
                return diag_no_memory(diag);
        free(events->items[index]->name);
        events->items[index]->name = name;
        return 0;
}

bool events_find(const struct events *events, uint64_t id, size_t *index)
{
        int64_t found = context_intern_find(events->ids, 0, id);
        *index = (size_t)found - 1;
        return found > 0 && (uint64_t)found <= events->count;
}

/* ---- the event of a record ---- */

static size_t count_bits(uint64_t bits)
{
        return (size_t)__builtin_popcountll(bits);
}

/* Returns the position of a sample's id, in values from its start; 0: it has none. */
static size_t id_place_in_sample(uint64_t type)
{
        const uint64_t before =
            PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
        if (type & PERF_SAMPLE_IDENTIFIER)
                return 1;
        return type & PERF_SAMPLE_ID ? 1 + count_bits(type & before) : 0;
}

/* Returns the position of the id in the trailer of other records, in values from their
 * end. */
static size_t id_place_from_end(uint64_t type)
{
        if (type & PERF_SAMPLE_IDENTIFIER)
                return 1;
        return type & PERF_SAMPLE_ID
                   ? 1 + count_bits(type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU))
                   : 0;
}

const struct perf_data_event *events_of_record(const struct events *events,
                                               const void *record, size_t size)
{
        struct perf_event_header header;
        if (events->count == 0)
                return NULL;
        const struct perf_data_event *first = events->items[0];
        uint64_t type = first->attr.sample_type;
        size_t values = size / 8, place = 0;
        memcpy(&header, record, sizeof(header));
        if (header.type == PERF_RECORD_SAMPLE) {
                place = id_place_in_sample(type);
        } else if (first->attr.sample_id_all) {
                size_t from_end = id_place_from_end(type);
                place = from_end && from_end < values ? values - from_end : 0;
        }
        if (events->count == 1 || place == 0 || place >= values)
                return first;
        uint64_t id;
        memcpy(&id, (const uint8_t *)record + 8 * place, sizeof(id));
        size_t index;
        if (events_find(events, id, &index))
                return events->items[index];
        return id == 0 || header.type != PERF_RECORD_SAMPLE ? first : NULL;
}
