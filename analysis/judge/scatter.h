/* SPDX-License-Identifier: MIT */
/* Slots of hash tables whose keys a recording chooses: multiplication by an odd number
 * that nobody knows beforehand, so that no file can hold keys that all want one slot
 * (Dietzfelbinger et al., A Reliable Randomized Algorithm for the Closest-Pair Problem,
 * 1997). Tables with it show nothing of their order. */
#ifndef MEMLAG_SCATTER_H
#define MEMLAG_SCATTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* From the random bytes that the kernel gives each program that it starts. */
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
