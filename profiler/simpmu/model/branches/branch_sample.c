/* SPDX-License-Identifier: MIT */
/* See branch_sample.h. */
#include "branch_sample.h"

#include "sampler.h"

struct branch_sample branch_sample_windows(uint64_t seed)
{
        return (struct branch_sample){.end = BRANCH_WINDOW_INSTRUCTIONS, .random = seed};
}

/* The time between windows is random, lest they follow a loop's rhythm. */
void branch_sample_next(struct branch_sample *sample, uint64_t instruction)
{
        const uint64_t mean =
            (uint64_t)BRANCH_WINDOW_INSTRUCTIONS * (BRANCH_WINDOW_SHARE - 1);

        sample->begin = instruction + mean / 2 + splitmix64(&sample->random) % mean;
        sample->end = sample->begin + BRANCH_WINDOW_INSTRUCTIONS;
}
