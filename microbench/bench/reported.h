/* SPDX-License-Identifier: MIT */
/* Caches, TLBs and cores as the system reports them; 0 or false if it does not. */
#ifndef MEMLAG_REPORTED_H
#define MEMLAG_REPORTED_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes and ways of the cache of LEVEL, from 1 to 3; 0: not reported. */
uint64_t reported_cache_bytes(unsigned level);
unsigned reported_cache_ways(unsigned level);

/* The translations of pages of 4 KiB that the data TLB of LEVEL, 1 or 2, holds; 0: not
 * reported. */
unsigned reported_tlb_pages(unsigned level);

/* Whether the CPUs A and B share a third-level cache. */
bool reported_shared_cache(int a, int b);

/* Whether the CPUs A and B are on one NUMA node and have cores of one kind. */
bool reported_alike(int a, int b);

/* Whether the CPUs A and B are threads of one core. */
bool reported_one_core(int a, int b);

#endif
