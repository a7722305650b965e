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
};

static void *work(void *context)
{
        struct sharing *sharing = context;
        size_t worker = atomic_fetch_add(&sharing->workers, 1), job;

        while (!atomic_load(&sharing->error) &&
               (job = atomic_fetch_add(&sharing->next, 1)) < sharing->job_count) {
                int error = sharing->run(sharing->context, worker, job);

                if (error)
                        atomic_store(&sharing->error, error);
        }
        return NULL;
}

size_t parallel_processors(void)
{
        cpu_set_t allowed;

        return sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                   ? (size_t)CPU_COUNT(&allowed)
                   : PARALLEL_WORKERS;
}

int parallel_run(parallel_job *run, void *context, size_t job_count)
{
        struct sharing sharing = {.run = run, .context = context, .job_count = job_count};
        pthread_t threads[PARALLEL_WORKERS - 1];
        size_t wanted = parallel_processors(), started = 0;

        if (wanted > job_count)
                wanted = job_count;
        while (started + 1 < wanted && started < PARALLEL_WORKERS - 1 &&
               pthread_create(&threads[started], NULL, work, &sharing) == 0)
                started++;
        work(&sharing);
        while (started > 0)
                pthread_join(threads[--started], NULL);
        return atomic_load(&sharing.error);
}
