/* SPDX-License-Identifier: MIT */
/* Counter values, in time order for each thread and counter. For the sink only. */
#ifndef MEMLAG_SINK_READINGS_H
#define MEMLAG_SINK_READINGS_H

#include "db.h"
#include "source.h"

struct sink_readings;

/* WRITER must outlive them. NULL: no memory. */
struct sink_readings *sink_readings_new(struct writer *writer);
void sink_readings_free(struct sink_readings *readings);

/* Ignores the counters NAMES (NULL-terminated, or NULL). NAMES must outlive the
 * readings. */
void sink_readings_leave_out(struct sink_readings *readings, const char *const *names);

/* Adds one interval of a thread. *DISORDERED becomes the count of values that were left
 * out because they overlap the previous value, or have no duration. */
int sink_readings_add(struct sink_readings *readings, int64_t start_ns, int64_t end_ns,
                      int64_t thread_id, const struct event_counter *counters,
                      size_t count, uint64_t *disordered, struct diag *diag);

#endif
