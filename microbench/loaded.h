/* SPDX-License-Identifier: MIT */
/* The latency of memory, alone and while other CPUs load it: a chase in the calling
 * thread, timed step by step, and threads that go on with a kernel until they are told to
 * rest. */
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
        double step;    /* of each, in the unit of what timed it */
        bool disturbed; /* the thread was taken from its CPU meanwhile */
};

/* Times STEPS steps. */
typedef struct chase_time chase_timer(struct chase *chase, uint64_t steps);

/* In ns. */
chase_timer chase_time;

/* In cycles of the core, by its clock just then. */
chase_timer chase_cycles;

/* The same by blocks of 8 and of 40 steps, but those that took far longer than the median
 * of their kind: loads of lines that others have thrown out of a cache meanwhile do not
 * count, unless they are in half of the blocks. */
chase_timer chase_block_cycles;

/* Steps of the two kinds of blocks. */
enum { CHASE_SHORT_STEPS = 8, CHASE_LONG_STEPS = 40 };

/* What a step takes by COUNT times of short blocks and as many of long ones, without
 * blocks that took more than three steps longer than the median of their kind: by the
 * difference of both kinds, as what a block takes besides its steps is in both. In the
 * unit of the times, which it sorts. */
double chase_step_of_blocks(double *short_times, double *long_times, size_t count);

/* ---- the load ---- */

struct load;

/* Starts PARAMETERS->threads threads, each on one of CPUS (as many), which make their
 * data for KERNEL and rest. PARAMETERS->windows parts of it follow each other, so that a
 * run may be short. LOAD is NULL on failure. */
int load_open(const struct kernel *kernel, const struct kernel_parameters *parameters,
              const int *cpus, struct load **load, struct diag *diag);
void load_close(struct load *load);

/* Has the threads, now on CPUS, go on with the kernel, with DELAY_NOPS, until load_rest.
 * Returns when each has finished a first window. */
int load_run(struct load *load, uint32_t delay_nops, const int *cpus, struct diag *diag);

/* Has them rest; returns the bytes that the kernel means to move, in GB/s, in the windows
 * of this run after the first. */
double load_rest(struct load *load);

/* The numbers of its threads, as many as were asked for. */
void load_threads(const struct load *load, pid_t *threads);

/* How many there are, of NULL none, and the CPU time that they have had. */
uint32_t load_thread_count(const struct load *load);
double load_cpu_seconds(const struct load *load);

#endif
