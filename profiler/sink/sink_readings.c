/* SPDX-License-Identifier: MIT */
/* Writes consecutive counter values. Knows nothing of processes. */
#include "sink_readings.h"

#include <stdlib.h>

#include "intern.h"
#include "validation.h"

struct sink_readings {
        struct writer *writer;
        const char *const *left_out;   /* NULL-terminated; NULL: none */
        struct context_intern *latest; /* (thread, counter) → end of its last reading */
};

struct sink_readings *sink_readings_new(struct writer *writer)
{
        struct sink_readings *readings = calloc(1, sizeof(*readings));
        if (!readings)
                return NULL;
        readings->writer = writer;
        readings->latest = context_intern_new();
        if (!readings->latest) {
                free(readings);
                return NULL;
        }
        return readings;
}

void sink_readings_free(struct sink_readings *readings)
{
        if (!readings)
                return;
        context_intern_free(readings->latest);
        free(readings);
}

void sink_readings_leave_out(struct sink_readings *readings, const char *const *names)
{
        readings->left_out = names;
}

/* Sets *FOLLOWS if the thread's value of a counter that begins at START_NS follows the
 * previous value; then stores its end. */
static int note(struct sink_readings *readings, int64_t thread_id, int64_t counter_id,
                int64_t start_ns, int64_t end_ns, bool *follows, struct diag *diag)
{
        struct context_node *node = context_intern_place(
            readings->latest, (uint64_t)thread_id, (uint64_t)counter_id);
        if (!node)
                return diag_no_memory(diag);
        *follows = end_ns > start_ns && (node->id == 0 || start_ns >= node->id);
        if (*follows)
                node->id = end_ns;
        return 0;
}

int sink_readings_add(struct sink_readings *readings, int64_t start_ns, int64_t end_ns,
                      int64_t thread_id, const struct event_counter *counters,
                      size_t count, uint64_t *disordered, struct diag *diag)
{
        int rc = 0;
        *disordered = 0;
        for (size_t i = 0; rc == 0 && i < count; i++) {
                int64_t counter_id;
                bool follows = false;
                if (validation_lists(readings->left_out, counters[i].name))
                        continue;
                rc = writer_counter(readings->writer, counters[i].name, counters[i].unit,
                                    NULL, &counter_id, diag);
                if (rc == 0)
                        rc = note(readings, thread_id, counter_id, start_ns, end_ns,
                                  &follows, diag);
                if (rc == 0 && follows)
                        rc = writer_reading(readings->writer, start_ns, end_ns, thread_id,
                                            counter_id, counters[i].value, diag);
                *disordered += rc == 0 && !follows;
        }
        return rc;
}
