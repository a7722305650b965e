/* SPDX-License-Identifier: MIT */
/* The greatest common factor, of strides that a program adds up. */
#ifndef MEMLAG_SYMBOLIZE_COMMON_FACTOR_H
#define MEMLAG_SYMBOLIZE_COMMON_FACTOR_H

#include <stdint.h>

/* Of A and B, by Euclid; of a number and 0 it is the number. */
static inline uint64_t common_factor(uint64_t a, uint64_t b)
{
        while (b) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

#endif
