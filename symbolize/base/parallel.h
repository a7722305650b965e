/* SPDX-License-Identifier: MIT */
/* Jobs that do not depend on each other, shared out to the processors. Knows nothing of
 * what they do; results must be the same whichever worker does which job. */
#ifndef MEMLAG_SYMBOLIZE_PARALLEL_H
#define MEMLAG_SYMBOLIZE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

enum { PARALLEL_WORKERS = 4 };

/* Does JOB. No two jobs of one WORKER (below PARALLEL_WORKERS) are done at the same time.
 * 0 or a negative errno value. */
typedef int parallel_job(void *context, size_t worker, size_t job);

/* Does the jobs below JOB_COUNT, begun in their order; after an error no more are begun.
 * 0 or one of the errors. The caller is a worker too: where no thread can be had it does
 * all. */
int parallel_run(parallel_job *run, void *context, size_t job_count);

#endif
