/* SPDX-License-Identifier: MIT */
/* Reads the output of perf record: a file (perf.data), or the form for a pipe. Returns
 * the kernel's records in recording order, and stores perf's description of events and
 * machine. Memory does not depend on the recording's size. Knows no sink; the caller
 * interprets the records. (Format: tools/perf/Documentation/perf.data-file-format.txt in
 * Linux.) */
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
        /* For a record: its bytes, aligned to 8, valid until the next call; and the
         * event that defines its layout, NULL when its id belongs to no known event. */
        const void *bytes;
        size_t size;
        const struct perf_data_event *event;
        uint64_t offset_bytes; /* of the record, or of the enclosing compressed record */
};

/* Parts of the recording that are not returned as records. */
struct perf_data_counts {
        uint64_t unknown_records; /* of types that this code does not know */
        uint64_t aux_bytes;       /* of hardware traces (Intel PT, Arm SPE) */
        uint64_t trailing_bytes;  /* after the last record, in no record */
};

/* Reads the header, and in a file the events and the features. FD stays open and the
 * caller's. -EBADMSG when it is damaged, -EPROTO when it is no recording or has the
 * other byte order; messages name the offset. */
int perf_data_open(int fd, struct perf_data **data, struct diag *diag);
void perf_data_close(struct perf_data *data);

/* The next item. After an error the recording is at its end. */
int perf_data_next(struct perf_data *data, struct perf_data_item *item,
                   struct diag *diag);

/* Returns the reason why the recording is incomplete (not finished, or truncated), if
 * known before reading records; NULL: none. The existing part can be read. */
const char *perf_data_damage(const struct perf_data *data);

/* Counts features that could not be decoded; *FIRST is the first error. */
uint64_t perf_data_bad_features(const struct perf_data *data, const char **first);

/* In a pipe they grow during reading. */
const struct events *perf_data_events(const struct perf_data *data);
const struct features *perf_data_features(const struct perf_data *data);
const struct perf_data_counts *perf_data_counts(const struct perf_data *data);

/* How much of the input was read, and its whole size (0: not known), in bytes. */
void perf_data_progress(const struct perf_data *data, uint64_t *read_bytes,
                        uint64_t *all_bytes);

#endif
