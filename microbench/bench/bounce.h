/* SPDX-License-Identifier: MIT */
/* Measures the distance between CPUs: the round-trip time of a cache line, and whether
 * both CPUs share the units of one core. */
#ifndef MEMLAG_BOUNCE_H
#define MEMLAG_BOUNCE_H

#include <stddef.h>

#include "diag.h"

/* Two neighbouring CPUs; NAN if other programs kept one CPU busy. */
struct bounce {
        double ns;       /* shortest round trip in several batches */
        double slowdown; /* of independent additions, while the other CPU executes the
                          * same: about 1 on two cores, more on one */
};

/* Measures each pair of neighbours among the COUNT CPUs; BOUNCES has room for COUNT - 1
 * results. Takes less than a millisecond on a quiet machine. */
int bounce_lines(const int *cpus, size_t count, struct bounce *bounces,
                 struct diag *diag);

#endif
