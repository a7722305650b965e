/* SPDX-License-Identifier: MIT */
/* Runs a kernel on threads, each on a CPU of its own, and takes its time. */
#ifndef MEMLAG_MEASURE_H
#define MEMLAG_MEASURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "estimate.h"
#include "kernel.h"

/* The CPUs that this process may use, in ascending order. */
struct cpu_list {
        int *cpus;
        size_t count;
};

int cpu_list_read(struct cpu_list *list, struct diag *diag);
void cpu_list_free(struct cpu_list *list);

/* Binds the calling thread to CPU. */
int cpu_pin(int cpu, struct diag *diag);

/* Starts MAIN with ARGUMENT in a THREAD that is on CPU from its first instruction on.
 * Returns 0 or an error number. */
int cpu_start_thread(int cpu, void *(*main)(void *), void *argument, pthread_t *thread);

struct measurement {
        double seconds;     /* of all passes, from the first thread's begin to the last
                               one's end, by CLOCK_MONOTONIC_RAW */
        double tsc_ticks;   /* the same in ticks of the time stamp counter */
        double cpu_seconds; /* that all threads together had a CPU for it */
        enum disturbance disturbance; /* of any of the threads */
        bool pinned;        /* false: more threads than CPUs, so they were not */
        int64_t huge_bytes; /* of the data, on huge pages; -1: unknown */
};

/* Runs one untimed pass, then COUNT rounds of PARAMETERS->passes timed ones, which begin
 * at the same time in all threads, and puts the time of each into ROUNDS. CPUS: those to
 * use, one thread each. -EINVAL when the parameters do not suit the kernel, -ENOMEM and
 * others when the data cannot be had. */
int measure(const struct kernel *kernel, const struct kernel_parameters *parameters,
            const struct cpu_list *cpus, struct measurement *rounds, size_t count,
            struct diag *diag);

#endif
