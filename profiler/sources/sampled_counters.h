/* SPDX-License-Identifier: MIT */
/* Derives counters from a recording with samples only. An event that samples every N
 * times has counted N since its previous sample. A sample of a group may carry the
 * values of all its events. Sums values by thread and time interval. Knows records, not
 * their source. */
#ifndef MEMLAG_SAMPLED_COUNTERS_H
#define MEMLAG_SAMPLED_COUNTERS_H

#include "perf/records/record.h"
#include "perf_deliver.h"
#include "source.h"

struct perf_event_attr;

struct sampled_counters;

/* SINK and DELIVER must outlive it. NULL: no memory. */
struct sampled_counters *sampled_counters_new(struct sink *sink,
                                              struct perf_deliver *deliver,
                                              int64_t interval_ns);
void sampled_counters_free(struct sampled_counters *counters);

/* The CPU that the recording is from, as perf writes it ("GenuineIntel,6,85,4"): by it
 * encodings of events have names. */
void sampled_counters_cpu(struct sampled_counters *counters, const char *cpuid);

/* Adds the counts in RECORD, a sample of the event with ATTR and NAME (NULL: not known).
 * FIND maps an id to its event, NULL for none. Call it after the record was delivered. 0
 * or a negative errno value. */
struct sampled_event {
        const struct perf_event_attr *attr;
        const char *name;
};
typedef bool sampled_event_find(void *context, uint64_t id, struct sampled_event *event);
int sampled_counters_add(struct sampled_counters *counters, int64_t time_ns,
                         const struct sampled_event *event, const struct record *record,
                         sampled_event_find *find, void *context, struct diag *diag);

/* Call it before any record of TIME_NS is delivered. Ends the previous intervals; with
 * ENDS (a process is about to end or to execute a program) also the current one. */
int sampled_counters_advance(struct sampled_counters *counters, int64_t time_ns,
                             bool ends, struct diag *diag);

#endif
