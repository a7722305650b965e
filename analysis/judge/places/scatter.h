/* SPDX-License-Identifier: MIT */
/* Slots of hash tables with keys from a recording: multiplication by a secret odd number.
 * A file then cannot hold keys that all collide (Dietzfelbinger et al., A Reliable
 * Randomized Algorithm for the Closest-Pair Problem, 1997). Output must not depend on the
 * order of such tables. */
#ifndef MEMLAG_SCATTER_H
#define MEMLAG_SCATTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* From the random bytes that the kernel gives each started program. */
static inline uint64_t scatter_multiplier(void)
{
        uint64_t bytes[2];
        memcpy(bytes, (const void *)getauxval(AT_RANDOM), sizeof(bytes));
        return (bytes[0] ^ bytes[1] << 1) | 1;
}

/* The slot of KEY among SLOT_COUNT, a power of two of at least 2. */
static inline size_t scatter_slot(uint64_t key, uint64_t multiplier, size_t slot_count)
{
        return (size_t)(key * multiplier >> (__builtin_clzll(slot_count) + 1));
}

#endif
