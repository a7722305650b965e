/* SPDX-License-Identifier: MIT */
/* Measures the latency of memory, idle and while other CPUs load it. The calling thread
 * runs a timed chase. Other threads run a kernel until load_rest. */
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

/* Prepares a random chase through SIZE_BYTES with STRIDE_BYTES. */
int chase_open(uint64_t size_bytes, uint32_t stride_bytes, enum buffer_pages pages,
               int node, struct chase *chase, struct diag *diag);
void chase_close(struct chase *chase);

/* Brings the chase's data into the caches, up to their size. */
void chase_warm(struct chase *chase);

struct chase_time {
        double step;    /* per step, in the timer's unit */
        bool disturbed; /* the thread lost its CPU during the timing */
};

/* Times STEPS steps. */
typedef struct chase_time chase_timer(struct chase *chase, uint64_t steps);

/* In ns. */
chase_timer chase_time;

/* In ns, of overlapping chases: the time of a load. */
chase_timer chase_overlapping_time;

/* In core cycles, by the current clock. */
chase_timer chase_cycles;

/* In core cycles, by blocks of 8 and 40 steps. Drops blocks that took much longer than
 * the median of their kind: others evicted their lines from a cache. If half of the
 * blocks are slow, they count. */
chase_timer chase_block_cycles;

/* Steps of short and long blocks. */
enum { CHASE_SHORT_STEPS = 8, CHASE_LONG_STEPS = 40 };

/* The time of a step from COUNT short and COUNT long blocks, in the unit of the times,
 * which are sorted. Drops blocks more than three steps above the median of their kind.
 * Uses the difference of both kinds, because both contain the same overhead. */
double chase_step_of_blocks(double *short_times, double *long_times, size_t count);

/* ---- the load ---- */

struct load;

/* Starts PARAMETERS->threads threads on as many CPUS. They create data for KERNEL and
 * then rest. The data has PARAMETERS->windows parts, used in turn, to allow short runs.
 * LOAD is NULL on failure. */
int load_open(const struct kernel *kernel, const struct kernel_parameters *parameters,
              const int *cpus, struct load **load, struct diag *diag);
void load_close(struct load *load);

/* Moves the threads to CPUS, and runs the kernel with DELAY_NOPS until load_rest. Returns
 * when each thread has finished its first window. */
int load_run(struct load *load, uint32_t delay_nops, const int *cpus, struct diag *diag);

/* Stops the threads. Returns the kernel's useful bandwidth in GB/s, over the windows
 * after the first. */
double load_rest(struct load *load);

/* THREADS gets the thread ids, as many as PARAMETERS->threads. */
void load_threads(const struct load *load, pid_t *threads);

/* The number of threads (0 for NULL), and their total CPU time. */
uint32_t load_thread_count(const struct load *load);
double load_cpu_seconds(const struct load *load);

#endif
