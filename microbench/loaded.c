/* SPDX-License-Identifier: MIT */
/* The latency of memory, alone and under load. */
#include "loaded.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "interference.h"

/* Long enough for all of a cache. */
static const double WARM_SECONDS = 0.03;

/* ---- the chase ---- */

int chase_open(uint64_t size_bytes, uint32_t stride_bytes, enum buffer_pages pages,
               int node, struct chase *chase, struct diag *diag)
{
        *chase = (struct chase){.parameters = {.size_bytes = size_bytes,
                                               .passes = 1,
                                               .threads = 1,
                                               .stride_bytes = stride_bytes,
                                               .pages = pages,
                                               .node = node}};
        int rc = kernel_chase.check(&chase->parameters, diag);
        if (rc < 0)
                return rc;
        chase->share.parameters = &chase->parameters;
        rc = kernel_chase.prepare(&chase->share, diag);
        if (rc < 0)
                buffer_unmap(&chase->share.buffer);
        return rc;
}

void chase_close(struct chase *chase)
{
        buffer_unmap(&chase->share.buffer);
}

void chase_warm(struct chase *chase)
{
        enum { STEPS = 4096 };
        uint64_t left = chase->parameters.size_bytes / chase->parameters.stride_bytes;
        double end = clock_seconds() + WARM_SECONDS;
        while (left > 0 && clock_seconds() < end) {
                uint64_t steps = left < STEPS ? left : STEPS;
                chase_steps(&chase->share, steps);
                left -= steps;
        }
}

struct chase_time chase_time(struct chase *chase, uint64_t steps)
{
        long before = interference_switches();
        double seconds = clock_seconds();
        chase_steps(&chase->share, steps);
        seconds = clock_seconds() - seconds;
        return (struct chase_time){.ns = seconds * 1e9 / (double)steps,
                                   .disturbed = interference_switches() != before};
}

/* ---- the load ---- */

struct loader {
        struct load *load;
        struct kernel_share share;
        pthread_t thread;
        pid_t tid;
        int cpu;
        double seconds; /* from the end of the first pass to that of the last */
        uint64_t passes;
};

struct load {
        const struct kernel *kernel;
        struct kernel_parameters parameters;
        struct loader *loaders;
        uint32_t started;
        atomic_bool stop;
        pthread_mutex_t mutex; /* of what follows */
        pthread_cond_t changed;
        uint32_t ready; /* loaders that have run once, or have failed */
        int rc;
        struct diag diag;
};

static void loader_ready(struct loader *loader, int rc, const struct diag *diag)
{
        struct load *load = loader->load;
        pthread_mutex_lock(&load->mutex);
        load->ready++;
        if (rc < 0 && load->rc == 0) {
                load->rc = rc;
                load->diag = *diag;
        }
        pthread_cond_signal(&load->changed);
        pthread_mutex_unlock(&load->mutex);
}

static void *loader_main(void *argument)
{
        struct loader *loader = argument;
        const struct kernel *kernel = loader->load->kernel;
        struct diag diag;
        loader->tid = (pid_t)syscall(SYS_gettid);
        int rc = cpu_pin(loader->cpu, &diag);
        if (rc == 0)
                rc = kernel->prepare(&loader->share, &diag);
        if (rc == 0)
                kernel->run(&loader->share, 1);
        loader_ready(loader, rc, &diag);
        double begin = clock_seconds();
        while (rc == 0 && !atomic_load(&loader->load->stop)) {
                kernel->run(&loader->share, 1);
                loader->passes++;
                loader->seconds = clock_seconds() - begin;
        }
        buffer_unmap(&loader->share.buffer);
        return NULL;
}

static bool load_failed(struct load *load)
{
        pthread_mutex_lock(&load->mutex);
        bool failed = load->rc < 0;
        pthread_mutex_unlock(&load->mutex);
        return failed;
}

static void start_loaders(struct load *load, const int *cpus)
{
        for (uint32_t i = 0; i < load->parameters.threads && !load_failed(load); i++) {
                struct loader *loader = &load->loaders[i];
                *loader = (struct loader){
                    .load = load,
                    .cpu = cpus[i],
                    .share = {.parameters = &load->parameters, .thread = i}};
                int error = pthread_create(&loader->thread, NULL, loader_main, loader);
                if (error) {
                        pthread_mutex_lock(&load->mutex);
                        load->rc = diag_set(&load->diag, -error,
                                            "cannot start a thread: %s", strerror(error));
                        pthread_mutex_unlock(&load->mutex);
                        return;
                }
                load->started++;
        }
}

static int wait_until_ready(struct load *load)
{
        pthread_mutex_lock(&load->mutex);
        while (load->ready < load->started)
                pthread_cond_wait(&load->changed, &load->mutex);
        int rc = load->rc;
        pthread_mutex_unlock(&load->mutex);
        return rc;
}

int load_start(const struct kernel *kernel, const struct kernel_parameters *parameters,
               const int *cpus, struct load **load, struct diag *diag)
{
        int rc = kernel->check ? kernel->check(parameters, diag) : 0;
        if (rc < 0)
                return rc;
        struct load *new = calloc(1, sizeof(*new));
        if (new)
                new->loaders = calloc(parameters->threads, sizeof(*new->loaders));
        if (!new || !new->loaders) {
                free(new);
                return diag_set(diag, -ENOMEM, "no memory for %u threads",
                                parameters->threads);
        }
        new->kernel = kernel;
        new->parameters = *parameters;
        pthread_mutex_init(&new->mutex, NULL);
        pthread_cond_init(&new->changed, NULL);
        start_loaders(new, cpus);
        rc = wait_until_ready(new);
        if (rc < 0) {
                *diag = new->diag;
                load_stop(new);
                return rc;
        }
        *load = new;
        return 0;
}

void load_threads(const struct load *load, pid_t *threads)
{
        for (uint32_t i = 0; i < load->started; i++)
                threads[i] = load->loaders[i].tid;
}

uint32_t load_thread_count(const struct load *load)
{
        return load ? load->started : 0;
}

double load_cpu_seconds(const struct load *load)
{
        double sum = 0;
        for (uint32_t i = 0; load && i < load->started; i++) {
                clockid_t clock;
                struct timespec used = {0};
                if (pthread_getcpuclockid(load->loaders[i].thread, &clock) == 0)
                        clock_gettime(clock, &used);
                sum += (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
        }
        return sum;
}

double load_stop(struct load *load)
{
        struct kernel_counts counts;
        double gbs = 0;
        load->kernel->count(&load->parameters, &counts);
        double pass_bytes = (double)counts.bytes / load->parameters.threads;
        atomic_store(&load->stop, true);
        for (uint32_t i = 0; i < load->started; i++) {
                struct loader *loader = &load->loaders[i];
                pthread_join(loader->thread, NULL);
                if (loader->seconds > 0)
                        gbs +=
                            pass_bytes * (double)loader->passes * 1e-9 / loader->seconds;
        }
        pthread_cond_destroy(&load->changed);
        pthread_mutex_destroy(&load->mutex);
        free(load->loaders);
        free(load);
        return gbs;
}
