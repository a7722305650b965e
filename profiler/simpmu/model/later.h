/* SPDX-License-Identifier: MIT */
#ifndef SIMPMU_MODEL_LATER_H
#define SIMPMU_MODEL_LATER_H

#include <stdint.h>

static inline uint64_t later(uint64_t a, uint64_t b)
{
        return a > b ? a : b;
}

#endif
