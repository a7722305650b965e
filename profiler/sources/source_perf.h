/* SPDX-License-Identifier: MIT */
/* Common parts of the sources that use the kernel's perf_event interface, except the
 * choice of events. Sources fill source_ops with these functions and a separate open
 * function. */
#ifndef MEMLAG_SOURCE_PERF_H
#define MEMLAG_SOURCE_PERF_H

#include "perf/plan/plan.h"
#include "perf_deliver.h"
#include "source.h"

struct source_perf_setup {
        struct plan plan; /* taken over, also when opening fails */
        bool has_retire_latency;
        /* NULL, or a function applied to each sample, with a context that the source
         * takes over. */
        perf_deliver_amend amend;
        void *context;
        void (*free_context)(void *context);
};

/* Makes the source; its events are opened by source_perf_attach. */
int source_perf_open(const struct source_options *options, struct sink *sink,
                     struct source_perf_setup *setup, struct source **source,
                     struct diag *diag);

/* Opens the events on the objects of OPTIONS: a process, CPUs, or TARGET, which waits to
 * execute the command; 0: no command. */
int source_perf_attach(struct source *source, pid_t target, struct diag *diag);

int source_perf_start(struct source *source, char ***argv, char ***envp,
                      struct diag *diag);
int source_perf_poll_fd(struct source *source);
int source_perf_drain(struct source *source, struct diag *diag);
bool source_perf_all_ended(struct source *source);
int source_perf_stop(struct source *source, struct diag *diag);
void source_perf_close(struct source *source);

#endif
