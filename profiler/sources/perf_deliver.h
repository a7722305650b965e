/* SPDX-License-Identifier: MIT */
/* Converts decoded perf records from the kernel or a file to events of source.h:
 * samples, counters and losses. perf_tasks.h tracks the processes for it. Knows neither
 * rings, files nor the database.
 *
 * Records come in time order (perf/records/order.h). A time in nanoseconds counts from
 * the run's start. */
#ifndef MEMLAG_PERF_DELIVER_H
#define MEMLAG_PERF_DELIVER_H

#include "perf/records/record.h"
#include "perf_tasks.h"
#include "source.h"

/* Record layout of one event. */
struct perf_stream {
        struct record_layout layout;
};

struct perf_deliver;

/* SINK must outlive it. NULL: no memory. */
struct perf_deliver *perf_deliver_new(struct sink *sink);
void perf_deliver_free(struct perf_deliver *deliver);

/* The processes as they are at this moment. With a tracker set in them, samples in its
 * code, and in the kernel's clock that it called, are counted and left out, and call
 * stacks go around it. */
struct perf_tasks *perf_deliver_tasks(const struct perf_deliver *deliver);

/* Follows the user stacks that samples copied; STACKS must outlive DELIVER. Without it
 * they are left out. */
void perf_deliver_set_user_stacks(struct perf_deliver *deliver,
                                  struct user_stacks *stacks);

/* Loads whose weight has three parts have a retirement latency
 * (perf/records/retire_latency.h). Without this call the field is left out. */
void perf_deliver_set_retire_latency(struct perf_deliver *deliver);

/* May change EVENT of process PID before the sink receives it; SAMPLE is its source.
 * Memory that EVENT points to must stay valid until then. */
typedef int (*perf_deliver_amend)(void *context, uint32_t pid,
                                  const struct record_sample *sample,
                                  struct event_sample *event, struct diag *diag);
void perf_deliver_set_amend(struct perf_deliver *deliver, perf_deliver_amend amend,
                            void *context);

/* Delivers RECORD, decoded by record_decode with STREAM's layout. Damaged or implausible
 * records are counted and are no error; only the sink returns errors. Kernel mappings
 * are delivered to each process with a sample in them.
 *
 * A sample retains its address and latency even if its data source is no memory access.
 * A sample of an unknown thread belongs to process -1. Its call stack has no context
 * markers. Counter values are left out. */
int perf_deliver_record(struct perf_deliver *deliver, int64_t time_ns,
                        const struct perf_stream *stream, const struct record *record,
                        struct diag *diag);

/* Delivers counter values of a CPU in [START_NS, END_NS). The database represents CPUs
 * as threads of a separate process. */
int perf_deliver_cpu_counters(struct perf_deliver *deliver, int64_t start_ns,
                              int64_t end_ns, uint32_t cpu,
                              const struct event_counter *counters, size_t count,
                              struct diag *diag);

#endif
