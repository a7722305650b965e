/* SPDX-License-Identifier: MIT */
/* Measures the core's clock, which changes continuously. Uses dependent additions: each
 * takes one cycle on every x86-64. */
#ifndef MEMLAG_CORE_CLOCK_H
#define MEMLAG_CORE_CLOCK_H

#include <stdint.h>

/* Executes COUNT times a hundred additions. */
void core_clock_additions(uint64_t count);

/* The current cycle time in ns; takes about 50 us. */
double core_clock_cycle_ns(void);

#endif
