/* SPDX-License-Identifier: MIT */
/* Prints the result of `memlag bench`. */
#ifndef MEMLAG_BENCH_SHOW_H
#define MEMLAG_BENCH_SHOW_H

#include "bounce.h"
#include "kernel.h"
#include "measure.h"

/* Bounces between each thread's CPU and the next one; NULL: not wanted. */
struct places_seen {
        struct bounce *before, *after;
        size_t count;
};

/* Prints KERNEL's time and counts with PARAMETERS to stdout, also per pass. */
void bench_print_table(const struct kernel *kernel,
                       const struct kernel_parameters *parameters,
                       const struct measurement *measurement,
                       const struct places_seen *places);

/* Prints the result as JSON. */
void bench_print_json(const struct kernel *kernel,
                      const struct kernel_parameters *parameters,
                      const struct measurement *measurement,
                      const struct places_seen *places);

#endif
