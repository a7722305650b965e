/* SPDX-License-Identifier: MIT */
/* A block of a header and two arrays of its fields' kind and size, and its readers. */
#ifndef SERIES_H
#define SERIES_H

#include "truth.h"

#define READS __attribute__((noinline)) static

struct series {
        long count;
        long step;
};

READS long add_series(struct series *series)
{
        long *firsts = (long *)(series + 1), *seconds = firsts + series->count, sum = 0;

        for (long i = 0; i < series->count; i += series->step)
                sum += firsts[i] * seconds[series->count - 1 - i];
        return sum;
}

READS long pick_series(struct series *series, long at)
{
        return ((long *)(series + 1))[series->count + at];
}

#endif
