/* SPDX-License-Identifier: MIT */
/* Prints the result of `memlag bench`. */
#ifndef MEMLAG_BENCH_SHOW_H
#define MEMLAG_BENCH_SHOW_H

#include "bounce.h"
#include "kernel.h"
#include "measure.h"

/* The CPU of each thread and of the next one; NULL: not asked for. */
struct places_seen {
        struct bounce *before, *after;
        size_t count;
};

/* To stdout: what KERNEL took with PARAMETERS, its passes among them. */
void bench_print_table(const struct kernel *kernel,
                       const struct kernel_parameters *parameters,
                       const struct measurement *measurement,
                       const struct places_seen *places);

/* The same as JSON. */
void bench_print_json(const struct kernel *kernel,
                      const struct kernel_parameters *parameters,
                      const struct measurement *measurement,
                      const struct places_seen *places);

#endif
