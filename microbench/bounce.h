/* SPDX-License-Identifier: MIT */
/* How far CPUs are from each other: the time that a cache line takes from one to the next
 * and back. */
#ifndef MEMLAG_BOUNCE_H
#define MEMLAG_BOUNCE_H

#include <stddef.h>

#include "diag.h"

/* Puts the round trip between each two neighbours of the COUNT CPUs, the least of several
 * batches, into NS, which has room for COUNT - 1; NAN where other programs kept one of
 * the two from running. Takes less than a millisecond on a quiet machine. */
int bounce_lines(const int *cpus, size_t count, double *ns, struct diag *diag);

#endif
