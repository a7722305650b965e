/* SPDX-License-Identifier: MIT */
/* The core's clock, which changes from moment to moment: by additions of which each needs
 * the one before, a cycle each on every x86-64. */
#ifndef MEMLAG_CORE_CLOCK_H
#define MEMLAG_CORE_CLOCK_H

#include <stdint.h>

/* COUNT times a hundred of them. */
void core_clock_additions(uint64_t count);

/* What a cycle takes now, in ns; takes some 50 us to find out. */
double core_clock_cycle_ns(void);

#endif
