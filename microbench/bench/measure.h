/* SPDX-License-Identifier: MIT */
/* Runs a kernel on threads, each pinned to a CPU, and times it. */
#ifndef MEMLAG_MEASURE_H
#define MEMLAG_MEASURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "estimate.h"
#include "kernel.h"

/* The CPUs available to this process, in ascending order. */
struct cpu_list {
        int *cpus;
        size_t count;
};

int cpu_list_read(struct cpu_list *list, struct diag *diag);
void cpu_list_free(struct cpu_list *list);

/* Binds the calling thread to CPU. */
int cpu_pin(int cpu, struct diag *diag);

/* Starts MAIN with ARGUMENT in a new THREAD, pinned to CPU from its first instruction.
 * Returns 0 or an error number. */
int cpu_start_thread(int cpu, void *(*main)(void *), void *argument, pthread_t *thread);

struct measurement {
        double seconds;     /* from first start to last end, CLOCK_MONOTONIC_RAW */
        double tsc_ticks;   /* seconds in ticks of the time stamp counter */
        double cpu_seconds; /* CPU time of all threads together */
        enum disturbance disturbance; /* the worst of all threads */
        bool pinned;        /* false: more threads than CPUs */
        int64_t huge_bytes; /* data on huge pages; -1: unknown */
};

/* Runs one untimed pass, then COUNT rounds with PARAMETERS->passes timed passes. All
 * threads start simultaneously. ROUNDS gets the time of each round. CPUS: one per thread.
 * Returns -EINVAL if the parameters do not fit the kernel, -ENOMEM or another error if
 * the data cannot be allocated. */
int measure(const struct kernel *kernel, const struct kernel_parameters *parameters,
            const struct cpu_list *cpus, struct measurement *rounds, size_t count,
            struct diag *diag);

#endif
