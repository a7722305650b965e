/* SPDX-License-Identifier: MIT */
/* Workers take the next job as soon as they have done one. */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct sharing {
        parallel_job *run;
        void *context;
        size_t job_count;
        atomic_size_t next;
        atomic_size_t workers;
        atomic_int error;
        pthread_t threads[PARALLEL_WORKERS - 1];
        size_t started;
};

/* Does the next job. False: there is none, or no more are to be begun. */
static bool do_next(struct sharing *sharing, size_t worker)
{
        size_t job;

        if (atomic_load(&sharing->error) ||
            (job = atomic_fetch_add(&sharing->next, 1)) >= sharing->job_count)
                return false;
        int error = sharing->run(sharing->context, worker, job);

        if (error)
                atomic_store(&sharing->error, error);
        return true;
}

static void *work(void *context)
{
        struct sharing *sharing = context;
        size_t worker = atomic_fetch_add(&sharing->workers, 1);

        while (do_next(sharing, worker))
                ;
        return NULL;
}

/* How many processors the process may use. */
static size_t processors(void)
{
        cpu_set_t allowed;

        return sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                   ? (size_t)CPU_COUNT(&allowed)
                   : PARALLEL_WORKERS;
}

/* Has as many others help as there are jobs and processors for. */
static void start_others(struct sharing *sharing)
{
        size_t wanted = processors();

        if (wanted > sharing->job_count)
                wanted = sharing->job_count;
        while (sharing->started + 1 < wanted && sharing->started < PARALLEL_WORKERS - 1 &&
               pthread_create(&sharing->threads[sharing->started], NULL, work, sharing) ==
                   0)
                sharing->started++;
}

int parallel_run(parallel_job *run, void *context, size_t job_count)
{
        struct sharing sharing = {.run = run, .context = context, .job_count = job_count};
        size_t worker = atomic_fetch_add(&sharing.workers, 1);

        start_others(&sharing);
        while (do_next(&sharing, worker))
                ;
        while (sharing.started > 0)
                pthread_join(sharing.threads[--sharing.started], NULL);
        return atomic_load(&sharing.error);
}
