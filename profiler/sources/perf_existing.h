/* SPDX-License-Identifier: MIT */
/* Delivers processes, threads and mappings that existed before perf's first record, from
 * /proc. Skips processes that have ended or are inaccessible. */
#ifndef MEMLAG_PERF_EXISTING_H
#define MEMLAG_PERF_EXISTING_H

#include <sys/types.h>

#include "perf_tasks.h"

/* Returns the threads of PID in *THREADS, ascending; the caller frees the array. -ESRCH:
 * no such process. */
int perf_existing_threads(pid_t pid, pid_t **threads, size_t *count, struct diag *diag);

/* Delivers PID with its threads and mappings. */
int perf_existing_process(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                          struct diag *diag);

/* Delivers all processes except memlag itself. */
int perf_existing_all(struct perf_tasks *tasks, int64_t time_ns, struct diag *diag);

/* Delivers the main thread's stack, which the kernel makes without a record. It grows
 * downwards. Its mapping is as large as the process's limit permits: nothing else is
 * mapped there. */
int perf_existing_stack(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                        struct diag *diag);

#endif
