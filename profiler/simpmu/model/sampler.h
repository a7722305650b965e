/* SPDX-License-Identifier: MIT */
/* When the next sample is due: after the period plus a jitter. The jitter prevents
 * sampling in step with a loop of the program. Its generator has a seed, which makes
 * runs repeatable. */
#ifndef SIMPMU_MODEL_SAMPLER_H
#define SIMPMU_MODEL_SAMPLER_H

#include <stdint.h>

/* Periods lie within 1/4 of the mean on both sides. */
#define SAMPLER_JITTER_DIVISOR 4u

struct sampler {
        uint64_t state;
        uint64_t period; /* mean number of qualifying loads, or slots, between samples */
        uint64_t countdown; /* loads or slots until the next sample */
};

/* A random number; any STATE is good at first, also 0. */
static inline uint64_t splitmix64(uint64_t *state)
{
        uint64_t bits = *state += 0x9e3779b97f4a7c15u;

        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
        return bits ^ bits >> 31;
}

static inline uint64_t sampler_random(struct sampler *sampler)
{
        return splitmix64(&sampler->state);
}

static inline void sampler_rearm(struct sampler *sampler)
{
        uint64_t reach = sampler->period / SAMPLER_JITTER_DIVISOR;

        sampler->countdown = sampler->period - reach;
        if (reach > 0)
                sampler->countdown += sampler_random(sampler) % (2 * reach + 1);
}

static inline void sampler_init(struct sampler *sampler, uint64_t period, uint64_t seed)
{
        *sampler = (struct sampler){.state = seed, .period = period > 0 ? period : 1};
        sampler_rearm(sampler);
}

/* Adds AMOUNT slots to a sampler of slots; returns the number of samples due. */
static inline uint64_t sampler_passes(struct sampler *sampler, uint64_t amount)
{
        uint64_t samples = 0;

        for (; amount >= sampler->countdown; samples++) {
                amount -= sampler->countdown;
                sampler_rearm(sampler);
        }
        sampler->countdown -= amount;
        return samples;
}

/* Counts one qualifying load; true when it is to be sampled. */
static inline int sampler_counts(struct sampler *sampler)
{
        if (--sampler->countdown != 0)
                return 0;
        sampler_rearm(sampler);
        return 1;
}

#endif
