/* SPDX-License-Identifier: MIT */
/* The core's clock. */
#include "core_clock.h"

#include <math.h>

#include "elapsed.h"

void core_clock_additions(uint64_t count)
{
        uint64_t sum = 0;
        __asm__ volatile("1:\n\t"
                         ".rept 100\n\t"
                         "add $1, %[sum]\n\t"
                         ".endr\n\t"
                         "dec %[n]\n\t"
                         "jnz 1b"
                         : [sum] "+r"(sum), [n] "+r"(count)
                         :
                         : "cc");
}

double core_clock_cycle_ns(void)
{
        enum { TRIES = 2, COUNT = 1000 };
        double least = INFINITY; /* any single measurement may be interrupted */
        for (int i = 0; i < TRIES; i++) {
                double seconds = clock_seconds();
                core_clock_additions(COUNT);
                least = fmin(least, clock_seconds() - seconds);
        }
        return least * 1e9 / (COUNT * 100.0);
}
