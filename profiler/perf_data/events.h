/* SPDX-License-Identifier: MIT */
/* The events of a recording: their attributes (of any size that the recording perf
 * used), their names, and the map from record ids to events. */
#ifndef MEMLAG_PERF_DATA_EVENTS_H
#define MEMLAG_PERF_DATA_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../perf/records/record.h"
#include "diag.h"

struct perf_data_event {
        struct perf_event_attr attr; /* missing fields are zero */
        struct record_layout layout;
        bool unreadable; /* its samples have fields that are newer than memlag */
        char *name;      /* perf's name; NULL: unknown */
};

struct context_intern;

struct events {
        struct perf_data_event **items;
        size_t count;
        struct context_intern *ids; /* id to index + 1 */
};

int events_open(struct events *events, struct diag *diag);
void events_close(struct events *events);

/* Adds an event by the SIZE bytes of its attributes. -EBADMSG when they cannot be. */
int events_add(struct events *events, const void *attr, size_t size, struct diag *diag);

/* Maps the COUNT ids, of 8 bytes each, to event INDEX. */
int events_add_ids(struct events *events, size_t index, const void *ids, size_t count,
                   struct diag *diag);

/* Names event INDEX; ignores an unknown index. TEXT has LENGTH bytes, or ends before. */
int events_set_name(struct events *events, size_t index, const char *text, size_t length,
                    struct diag *diag);

/* Finds the event of ID; false: unknown. */
bool events_find(const struct events *events, uint64_t id, size_t *index);

/* Returns the event of the kernel's record of SIZE bytes: by its id, or the first
 * event for a record without an id. NULL for a sample with an unknown id, or without
 * events. */
const struct perf_data_event *events_of_record(const struct events *events,
                                               const void *record, size_t size);

#endif
