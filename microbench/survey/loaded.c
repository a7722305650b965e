/* SPDX-License-Identifier: MIT */
/* Measures the latency of memory, idle and under load. */
#include "loaded.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core_clock.h"
#include "elapsed.h"
#include "estimate.h"
#include "interference.h"

/* Long enough to fill any cache. */
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

static struct chase_time time_of(void (*run)(struct kernel_share *share, uint64_t steps),
                                 struct chase *chase, uint64_t steps)
{
        long before = interference_switches();
        double seconds = clock_seconds();
        run(&chase->share, steps);
        seconds = clock_seconds() - seconds;
        return (struct chase_time){.step = seconds * 1e9 / (double)steps,
                                   .disturbed = interference_switches() != before};
}

struct chase_time chase_time(struct chase *chase, uint64_t steps)
{
        return time_of(chase_steps, chase, steps);
}

struct chase_time chase_overlapping_time(struct chase *chase, uint64_t steps)
{
        return time_of(chase_overlapping_steps, chase, steps);
}

struct chase_time chase_cycles(struct chase *chase, uint64_t steps)
{
        double cycle_ns = core_clock_cycle_ns();
        struct chase_time time = chase_time(chase, steps);
        time.step /= cycle_ns;
        return time;
}

/* The time of a block of STEPS, in TSC ticks. */
static double block_ticks(struct chase *chase, uint64_t steps)
{
        uint64_t begin = clock_tsc();
        chase_steps(&chase->share, steps);
        return (double)(clock_tsc() - begin);
}

/* The mean of sorted TIMES up to WITHIN above their median. The TSC of some processors
 * advances in steps of 10 ns: a single value, such as the median, is imprecise. */
static double undisturbed_mean(const double *times, size_t count, double within)
{
        double sum = 0;
        size_t near = 0;
        for (; near < count && times[near] <= times[count / 2] + within; near++)
                sum += times[near];
        return sum / (double)near;
}

double chase_step_of_blocks(double *short_times, double *long_times, size_t count)
{
        /* More than the variation of undisturbed blocks, less than memory's latency above
         * a cache's. */
        const double within_steps = 3;
        const double steps = CHASE_LONG_STEPS - CHASE_SHORT_STEPS;
        estimate_sort(short_times, count);
        estimate_sort(long_times, count);
        double median_step = (long_times[count / 2] - short_times[count / 2]) / steps;
        double within = fmax(0, within_steps * median_step);
        return (undisturbed_mean(long_times, count, within) -
                undisturbed_mean(short_times, count, within)) /
               steps;
}

struct chase_time chase_block_cycles(struct chase *chase, uint64_t steps)
{
        enum { PAIRS_MAX = 2048 };
        double short_ticks[PAIRS_MAX], long_ticks[PAIRS_MAX];
        size_t pairs = steps / (CHASE_SHORT_STEPS + CHASE_LONG_STEPS) + 1;
        pairs = pairs < PAIRS_MAX ? pairs : PAIRS_MAX;
        double cycle_ns = core_clock_cycle_ns();
        long before = interference_switches();
        double seconds = clock_seconds();
        uint64_t begin = clock_tsc();
        for (size_t i = 0; i < pairs; i++) {
                short_ticks[i] = block_ticks(chase, CHASE_SHORT_STEPS);
                long_ticks[i] = block_ticks(chase, CHASE_LONG_STEPS);
        }
        double ticks = (double)(clock_tsc() - begin);
        double tick_ns = (clock_seconds() - seconds) * 1e9 / ticks;
        bool disturbed = interference_switches() != before;
        double step_ticks = chase_step_of_blocks(short_ticks, long_ticks, pairs);
        return (struct chase_time){.step = step_ticks * tick_ns / cycle_ns,
                                   .disturbed = disturbed};
}

/* ---- the load ---- */

struct loader {
        struct load *load;
        struct kernel_share share;
        pthread_t thread;
        pid_t tid;
        int cpu;
        char *data;
        uint64_t windows; /* over all runs */
        double gbs;       /* in the latest run */
};

struct load {
        const struct kernel *kernel;
        struct kernel_parameters parameters; /* for all data */
        struct kernel_parameters window;     /* for one window */
        double window_bytes;                 /* moved by one thread per window */
        struct loader *loaders;
        uint32_t started;
        atomic_bool runs;
        pthread_mutex_t mutex; /* protects the members below */
        pthread_cond_t changed;
        uint64_t order; /* number of commands to run */
        bool closes;
        uint32_t done; /* loaders that completed the command or failed */
        int rc;
        struct diag diag;
};

static void loader_done(struct loader *loader, int rc, const struct diag *diag)
{
        struct load *load = loader->load;
        pthread_mutex_lock(&load->mutex);
        load->done++;
        if (rc < 0 && load->rc == 0) {
                load->rc = rc;
                load->diag = *diag;
        }
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->mutex);
}

/* Waits for the next command to run; false: the load ends. */
static bool loader_awaits(struct loader *loader, uint64_t *order)
{
        struct load *load = loader->load;
        pthread_mutex_lock(&load->mutex);
        while (load->order == *order && !load->closes)
                pthread_cond_wait(&load->changed, &load->mutex);
        *order = load->order;
        bool closes = load->closes;
        pthread_mutex_unlock(&load->mutex);
        return !closes;
}

/* Windows cover the data one after the other. */
static void run_window(struct loader *loader)
{
        const struct load *load = loader->load;
        uint64_t index = loader->windows++ % load->parameters.windows;
        loader->share.buffer.addr =
            loader->data + index * kernel_part_bytes(&load->window);
        load->kernel->run(&loader->share, 1);
}

static void loader_runs(struct loader *loader)
{
        struct diag diag;
        int rc = cpu_pin(loader->cpu, &diag);
        if (rc == 0)
                run_window(loader);
        double begin = clock_seconds(), seconds = 0;
        uint64_t first = loader->windows;
        loader_done(loader, rc, &diag);
        while (atomic_load(&loader->load->runs)) {
                if (rc == 0)
                        run_window(loader);
                else
                        sched_yield(); /* other loaders are being stopped */
                seconds = clock_seconds() - begin;
        }
        loader->gbs = seconds > 0 ? loader->load->window_bytes * 1e-9 *
                                        (double)(loader->windows - first) / seconds
                                  : 0;
        loader_done(loader, 0, NULL);
}

static void *loader_main(void *argument)
{
        struct loader *loader = argument;
        struct diag diag;
        uint64_t order = 0;
        loader->tid = (pid_t)syscall(SYS_gettid);
        int rc = cpu_pin(loader->cpu, &diag);
        if (rc == 0)
                rc = loader->load->kernel->prepare(&loader->share, &diag);
        loader->data = loader->share.buffer.addr;
        loader->share.parameters = &loader->load->window;
        loader_done(loader, rc, &diag);
        while (rc == 0 && loader_awaits(loader, &order))
                loader_runs(loader);
        loader->share.buffer.addr = loader->data;
        buffer_unmap(&loader->share.buffer);
        return NULL;
}

/* Waits until all loaders have completed their command. */
static int wait_for_loaders(struct load *load, struct diag *diag)
{
        pthread_mutex_lock(&load->mutex);
        while (load->done < load->started)
                pthread_cond_wait(&load->changed, &load->mutex);
        int rc = load->rc;
        if (rc < 0)
                *diag = load->diag;
        pthread_mutex_unlock(&load->mutex);
        return rc;
}

static int start_loaders(struct load *load, const int *cpus, struct diag *diag)
{
        int error = 0;
        for (uint32_t i = 0; i < load->parameters.threads && !error; i++) {
                struct loader *loader = &load->loaders[i];
                *loader = (struct loader){
                    .load = load,
                    .cpu = cpus[i],
                    .share = {.parameters = &load->parameters, .thread = i}};
                error = pthread_create(&loader->thread, NULL, loader_main, loader);
                load->started += !error;
        }
        int rc = wait_for_loaders(load, diag);
        return error
                   ? diag_set(diag, -error, "cannot start a thread: %s", strerror(error))
                   : rc;
}

static struct load *load_new(const struct kernel *kernel,
                             const struct kernel_parameters *parameters)
{
        struct load *load = calloc(1, sizeof(*load));
        if (!load)
                return NULL;
        load->loaders = calloc(parameters->threads, sizeof(*load->loaders));
        if (!load->loaders) {
                free(load);
                return NULL;
        }
        struct kernel_counts counts;
        load->kernel = kernel;
        load->parameters = load->window = *parameters;
        if (parameters->windows > 1)
                load->window.size_bytes =
                    kernel_window_bytes(parameters) * parameters->threads;
        else
                load->parameters.windows = 1;
        kernel->count(&load->window, &counts);
        load->window_bytes = (double)counts.bytes / parameters->threads;
        pthread_mutex_init(&load->mutex, NULL);
        pthread_cond_init(&load->changed, NULL);
        return load;
}

int load_open(const struct kernel *kernel, const struct kernel_parameters *parameters,
              const int *cpus, struct load **load, struct diag *diag)
{
        *load = NULL;
        int rc = kernel->check ? kernel->check(parameters, diag) : 0;
        if (rc < 0)
                return rc;
        struct load *new = load_new(kernel, parameters);
        if (!new)
                return diag_set(diag, -ENOMEM, "no memory for %u threads",
                                parameters->threads);
        rc = start_loaders(new, cpus, diag);
        if (rc < 0)
                load_close(new);
        else
                *load = new;
        return rc;
}

void load_close(struct load *load)
{
        if (!load)
                return;
        pthread_mutex_lock(&load->mutex);
        load->closes = true;
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->mutex);
        for (uint32_t i = 0; i < load->started; i++)
                pthread_join(load->loaders[i].thread, NULL);
        pthread_cond_destroy(&load->changed);
        pthread_mutex_destroy(&load->mutex);
        free(load->loaders);
        free(load);
}

int load_run(struct load *load, uint32_t delay_nops, const int *cpus, struct diag *diag)
{
        pthread_mutex_lock(&load->mutex);
        load->window.delay_nops = delay_nops;
        for (uint32_t i = 0; i < load->started; i++)
                load->loaders[i].cpu = cpus[i];
        load->done = 0;
        load->order++;
        atomic_store(&load->runs, true);
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->mutex);
        int rc = wait_for_loaders(load, diag);
        if (rc < 0)
                load_rest(load);
        return rc;
}

double load_rest(struct load *load)
{
        struct diag ignored;
        double gbs = 0;
        pthread_mutex_lock(&load->mutex);
        load->done = 0;
        pthread_mutex_unlock(&load->mutex);
        atomic_store(&load->runs, false);
        wait_for_loaders(load, &ignored);
        for (uint32_t i = 0; i < load->started; i++)
                gbs += load->loaders[i].gbs;
        return gbs;
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
