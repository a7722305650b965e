/* SPDX-License-Identifier: MIT */
/* The latency of memory, alone and while other CPUs load it: a chase in the calling
 * thread, timed step by step, and threads that go on with a kernel until they are told to
 * end. */
#ifndef MEMLAG_LOADED_H
#define MEMLAG_LOADED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel.h"
#include "measure.h"

/* ---- the chase ---- */

struct chase {
        struct kernel_parameters parameters;
        struct kernel_share share;
};

/* A random chase through SIZE_BYTES, by STRIDE_BYTES. */
int chase_open(uint64_t size_bytes, uint32_t stride_bytes, enum buffer_pages pages,
               int node, struct chase *chase, struct diag *diag);
void chase_close(struct chase *chase);

/* Has its data in the caches, as far as they hold it. */
void chase_warm(struct chase *chase);

struct chase_time {
        double ns;      /* per step */
        bool disturbed; /* the thread was taken from its CPU meanwhile */
};

struct chase_time chase_time(struct chase *chase, uint64_t steps);

/* ---- the load ------------------------------------------------------------------------
 */

struct load;

/* Starts PARAMETERS->threads threads of KERNEL on CPUS (as many), each of which begins
 * again and again, until load_stop. Returns when all have finished a first pass. */
int load_start(const struct kernel *kernel, const struct kernel_parameters *parameters,
               const int *cpus, struct load **load, struct diag *diag);

/* The numbers of its threads, as many as were asked for. */
void load_threads(const struct load *load, pid_t *threads);

/* How many there are, of NULL none, and the CPU time that they have had. */
uint32_t load_thread_count(const struct load *load);
double load_cpu_seconds(const struct load *load);

/* Ends and frees it; returns the bytes that the kernel means to move, in GB/s, from its
 * first pass to its last. */
double load_stop(struct load *load);

#endif
