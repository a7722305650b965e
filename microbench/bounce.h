/* SPDX-License-Identifier: MIT */
/* How far CPUs are from each other: the time that a cache line takes from one to the next
 * and back, and whether the two share the units of one core. */
#ifndef MEMLAG_BOUNCE_H
#define MEMLAG_BOUNCE_H

#include <stddef.h>

#include "diag.h"

/* Two neighbouring CPUs; NAN where other programs kept one of them from running. */
struct bounce {
        double ns;       /* of a round trip, the least of several batches */
        double slowdown; /* of additions that depend on nothing, while the other CPU
                            executes the same: about 1 on two cores, more on one */
};

/* Measures each two neighbours of the COUNT CPUs and puts that into BOUNCES, which has
 * room for COUNT - 1. Takes less than a millisecond on a quiet machine. */
int bounce_lines(const int *cpus, size_t count, struct bounce *bounces,
                 struct diag *diag);

#endif
