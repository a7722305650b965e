/* SPDX-License-Identifier: MIT */
/* Says decoded perf records in the terms of source.h, whether they come from the kernel
 * or from a file: samples, counters, and account of what the records say is missing.
 * perf_tasks.h follows the processes for it. Knows neither rings, files nor the database.
 *
 * Records come in the order of their times (perf/order.h). A time in nanoseconds counts
 * from the run's start. */
#ifndef MEMLAG_PERF_DELIVER_H
#define MEMLAG_PERF_DELIVER_H

#include "perf/record.h"
#include "perf_tasks.h"
#include "source.h"

/* What the records of one event are. */
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

/* Loads whose weight has three parts have a latency of retirement
 * (perf/retire_latency.h); without this call the field is left out. */
void perf_deliver_set_retire_latency(struct perf_deliver *deliver);

/* May change EVENT, of process PID, which is about to go to the sink; SAMPLE is what it
 * was made of. What it points to must last until the sink has it. */
typedef int (*perf_deliver_amend)(void *context, uint32_t pid,
                                  const struct record_sample *sample,
                                  struct event_sample *event, struct diag *diag);
void perf_deliver_set_amend(struct perf_deliver *deliver, perf_deliver_amend amend,
                            void *context);

/* Hands RECORD on, which record_decode made with STREAM's layout. What is damaged or
 * makes no sense is counted, and no error: an error is the sink's. Mappings of the kernel
 * are told of each process that has a sample in them.
 *
 * A sample keeps its address and latency, also where its data source says that it was no
 * access to memory. One of an unknown thread belongs to process -1. Its call stack
 * has no context markers. Counters' values are left out. */
int perf_deliver_record(struct perf_deliver *deliver, int64_t time_ns,
                        const struct perf_stream *stream, const struct record *record,
                        struct diag *diag);

/* What was counted on a CPU in [START_NS, END_NS). The database knows CPUs as threads of
 * a process of their own. */
int perf_deliver_cpu_counters(struct perf_deliver *deliver, int64_t start_ns,
                              int64_t end_ns, uint32_t cpu,
                              const struct event_counter *counters, size_t count,
                              struct diag *diag);

#endif
