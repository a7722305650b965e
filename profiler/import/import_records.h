/* SPDX-License-Identifier: MIT */
/* Passes a recording's records through the ordering queue to perf_deliver. Knows neither
 * the format of the recording nor the rows. */
#ifndef MEMLAG_IMPORT_RECORDS_H
#define MEMLAG_IMPORT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

/* Filled in by import_records_open; the caller reads the counts. */
struct import_records {
        struct perf_data *data; /* this and the sink are the caller's */
        struct sink *sink;
        struct perf_deliver *deliver;
        struct user_stacks *user_stacks;
        struct intern *build_id_index; /* path → index + 1 */
        size_t build_ids_indexed;
        struct sampled_counters *counters;
        bool machine_asked;
        struct order *order;
        struct diag *diag; /* for the order's handler */
        bool has_base;
        uint64_t base_time; /* of the first record in the order of times */
        int64_t latest_ns;
        uint64_t early;      /* records before the base */
        uint64_t impossible; /* records with times that cannot be */
        uint64_t unreadable_samples;
        uint64_t lost;        /* in the kernel's records of loss */
        uint64_t lost_retold; /* in perf's own, at the recording's end */
        bool has_samples;     /* before the damage, if there is any */
};

/* Prepares records of DATA for SINK. SYMFS: where the recorded machine's files are,
 * NULL: here. Call import_records_close in any case. */
int import_records_open(struct import_records *records, struct perf_data *data,
                        struct sink *sink, const char *symfs, uint64_t interval_ns,
                        struct diag *diag);
void import_records_close(struct import_records *records);

/* Takes all records. -EBADMSG: the recording is damaged; the records before the damage
 * were taken. */
int import_records_take(struct import_records *records, struct diag *diag);

/* Delivers the pending records, and ends open intervals. */
int import_records_flush(struct import_records *records, struct diag *diag);

#endif
