/* SPDX-License-Identifier: MIT */
/* locked STEPS: one counter with and without locked instructions. */
#include <stdlib.h>

static volatile long count;

int main(int argc, char **argv)
{
        long steps = argc > 1 ? atol(argv[1]) : 0;
        for (long i = 0; i < steps; i++)
                count++;
        for (long i = 0; i < steps; i++)
                __sync_fetch_and_add(&count, 1); /* locked */
        return count != 2 * steps;
}
