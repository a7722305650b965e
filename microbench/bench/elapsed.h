/* SPDX-License-Identifier: MIT */
/* The clocks of a measurement. */
#ifndef MEMLAG_ELAPSED_H
#define MEMLAG_ELAPSED_H

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

/* CLOCK_MONOTONIC_RAW in seconds, without NTP slewing. */
static inline double clock_seconds(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* CPU time of the calling thread. */
static inline double clock_cpu_seconds(void)
{
        struct timespec used;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* The time stamp counter, after all earlier instructions. */
static inline uint64_t clock_tsc(void)
{
        _mm_lfence();
        uint64_t ticks = __rdtsc();
        _mm_lfence();
        return ticks;
}

#endif
