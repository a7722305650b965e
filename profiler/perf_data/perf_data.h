/* SPDX-License-Identifier: MIT */
/* Reads what perf record writes: a file (perf.data), or the form that it writes into a
 * pipe. Gives the kernel's records in the order of the recording, and keeps what perf
 * says about events and the machine. Memory does not depend on the recording's size.
 * Knows no sink; what the records mean is the caller's business.
 * (Format: tools/perf/Documentation/perf.data-file-format.txt in Linux.) */
#ifndef MEMLAG_PERF_DATA_H
#define MEMLAG_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "events.h"
#include "perf_features.h"

struct perf_data;

enum perf_data_kind {
        PERF_DATA_END,
        PERF_DATA_RECORD, /* of the kernel, or in its form */
        PERF_DATA_ROUND   /* see order_round in order.h */
};

struct perf_data_item {
        enum perf_data_kind kind;
        /* Of a record: its bytes, aligned to 8, until the next call; and the event
         * whose layout it has, NULL when its id is of no known event. */
        const void *bytes;
        size_t size;
        const struct perf_data_event *event;
        uint64_t offset_bytes; /* of the record, or of the compressed one around it */
};

/* What the recording holds that is not read as records. */
struct perf_data_counts {
        uint64_t unknown_records; /* of types that this code does not know */
        uint64_t aux_bytes;       /* of hardware traces (Intel PT, Arm SPE) */
        uint64_t trailing_bytes;  /* behind the last record, and no record */
};

/* Reads the header, and of a file the events and the features. FD stays the caller's and
 * open. -EBADMSG when it is damaged, -EPROTO when it is none or of the other byte order;
 * messages name the offset. */
int perf_data_open(int fd, struct perf_data **data, struct diag *diag);
void perf_data_close(struct perf_data *data);

/* The next item. After an error the recording is at its end. */
int perf_data_next(struct perf_data *data, struct perf_data_item *item,
                   struct diag *diag);

/* What tells, before records are read, that the recording is not whole: it was not
 * finished, or cut off; NULL: nothing. What is there of it can be read. */
const char *perf_data_damage(const struct perf_data *data);

/* Features that could not be decoded, and what was wrong with the first. */
uint64_t perf_data_bad_features(const struct perf_data *data, const char **first);

/* In a pipe they grow while it is read. */
const struct events *perf_data_events(const struct perf_data *data);
const struct features *perf_data_features(const struct perf_data *data);
const struct perf_data_counts *perf_data_counts(const struct perf_data *data);

/* How much of the input was read, and its whole size (0: not known), in bytes. */
void perf_data_progress(const struct perf_data *data, uint64_t *read_bytes,
                        uint64_t *all_bytes);

#endif
