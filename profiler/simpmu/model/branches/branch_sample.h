/* SPDX-License-Identifier: MIT */
/* Which part of a thread's branches is predicted: all, or those in windows by chance. A
 * wrong prediction in a window stands for the others, and counts as many times. It counts
 * once in the first window, which is no chance, and while a branch is new: it is learnt
 * only once, however few windows there are. */
#ifndef SIMPMU_MODEL_BRANCH_SAMPLE_H
#define SIMPMU_MODEL_BRANCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "branch.h"

#define BRANCH_WINDOW_INSTRUCTIONS 32768u
#define BRANCH_WINDOW_SHARE        8u /* windows have this part of the instructions */

/* Of a thread, in its instructions. */
struct branch_sample {
        uint64_t begin;  /* branches are predicted behind this instruction */
        uint64_t end;    /* and up to this one; UINT64_MAX: always */
        uint64_t random; /* the state of splitmix64 */
};

/* All branches are predicted. */
static inline struct branch_sample branch_sample_all(void)
{
        return (struct branch_sample){.end = UINT64_MAX};
}

/* Those in windows are, and one begins with the first instruction. SEED: any. */
struct branch_sample branch_sample_windows(uint64_t seed);

/* INSTRUCTION is END or a later one: chooses the next window. */
void branch_sample_next(struct branch_sample *sample, uint64_t instruction);

/* How many wrong predictions one of BRANCH stands for. */
static inline uint32_t branch_sample_weight(const struct branch_sample *sample,
                                            const struct branch *branch)
{
        return sample->begin == 0 || branch->looked_up < BRANCH_NEW
                   ? 1
                   : BRANCH_WINDOW_SHARE;
}

#endif
