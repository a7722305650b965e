/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers, equal in every run (splitmix64, Steele, Lea and Flood, OOPSLA
 * 2014). */
#ifndef MEMLAG_RANDOM_H
#define MEMLAG_RANDOM_H

#include <stdint.h>

struct random {
        uint64_t state;
};

static inline struct random random_seeded(uint64_t seed)
{
        return (struct random){seed};
}

static inline uint64_t random_next(struct random *random)
{
        uint64_t mixed = random->state += UINT64_C(0x9e3779b97f4a7c15);
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        return mixed ^ mixed >> 31;
}

/* A number in [0, LIMIT), LIMIT at most 2^32. */
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
        return (random_next(random) >> 32) * limit >> 32;
}

#endif
