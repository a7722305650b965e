/* SPDX-License-Identifier: MIT */
/* What the records of perf do not tell because it was there before: processes, threads
 * and mappings, from /proc. A process that is gone or may not be looked at is none. */
#ifndef MEMLAG_PERF_EXISTING_H
#define MEMLAG_PERF_EXISTING_H

#include <sys/types.h>

#include "perf_tasks.h"

/* The threads of PID in *THREADS, which the caller frees, ascending. -ESRCH when there is
 * no such process. */
int perf_existing_threads(pid_t pid, pid_t **threads, size_t *count, struct diag *diag);

/* Tells of PID with its threads and mappings. */
int perf_existing_process(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                          struct diag *diag);

/* Tells of all processes, but for memlag itself. */
int perf_existing_all(struct perf_tasks *tasks, int64_t time_ns, struct diag *diag);

/* Tells of the main thread's stack, which the kernel makes without a record. It grows
 * downwards, and so its mapping is as large as the process's limit lets it become:
 * nothing else is mapped there. */
int perf_existing_stack(struct perf_tasks *tasks, int64_t time_ns, pid_t pid,
                        struct diag *diag);

#endif
