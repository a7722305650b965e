/* SPDX-License-Identifier: MIT */
/* What PERF_SAMPLE_DATA_SRC and PERF_SAMPLE_WEIGHT mean (union perf_mem_data_src and
 * perf_sample_weight in linux/perf_event.h), in the words of the sample database. Pure
 * functions; knows no CPU: the kernel has translated already. */
#ifndef MEMLAG_PERF_DATASRC_H
#define MEMLAG_PERF_DATASRC_H

#include <stdbool.h>
#include <stdint.h>

#include "db.h"

/* Decodes RAW into ROW, whose texts are static. False when it says that this was not a
 * memory access (no operation and no level, as in both forms of PERF_MEM_NA), whatever
 * address the sample carries.
 *
 * The level is where the data came from. mem_lvl_num counts where it says something;
 * kernels before 4.14, and AMD's before 6.6, only fill mem_lvl. A level that was missed
 * tells where the data was not, so it is NA; so are caches that have no name here (L4,
 * a memory-side cache) and unknown codes: RAW keeps them. Memory on CXL is REMOTE_DRAM,
 * another core's cache without a shared L3 is REMOTE_CACHE.
 *
 * Snoop "none": none was needed, or no other cache had the line; "hit": another cache
 * had it unchanged; "hitm": changed. TLB "miss": a page walk was needed. */
bool datasrc_decode(uint64_t raw, struct data_source_row *row);

/* The three parts of a sample's weight. Their meaning is the CPU's: on Intel up to Ice
 * Lake LATENCY is the load latency and the others are 0; from Alder Lake and Sapphire
 * Rapids on it is the cache's part of INSTRUCTION_LATENCY, on which the ldlat threshold
 * acts. On AMD LATENCY is that of an L1 miss and INSTRUCTION_LATENCY the time from tag
 * to retirement. All in core cycles; 0: not known. */
struct datasrc_weight {
        uint64_t latency_cycles;
        uint16_t instruction_latency_cycles;
        uint16_t retire_latency_cycles; /* old kernels: garbage where the CPU has none */
};

/* RAW is the field as it stands in a sample of SAMPLE_TYPE, which has WEIGHT or
 * WEIGHT_STRUCT. */
struct datasrc_weight datasrc_weight(uint64_t sample_type, uint64_t raw);

#endif
