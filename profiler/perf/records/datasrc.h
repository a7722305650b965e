/* SPDX-License-Identifier: MIT */
/* Decodes PERF_SAMPLE_DATA_SRC and PERF_SAMPLE_WEIGHT (union perf_mem_data_src and
 * perf_sample_weight in linux/perf_event.h) into the sample database's terms. Pure
 * functions; knows no CPU: the kernel has translated already. */
#ifndef MEMLAG_PERF_DATASRC_H
#define MEMLAG_PERF_DATASRC_H

#include <stdbool.h>
#include <stdint.h>

#include "db.h"

/* Decodes RAW into ROW, whose texts are static. Returns false if RAW describes no memory
 * access (no operation and no level, as in both forms of PERF_MEM_NA). A sample's
 * address does not matter.
 *
 * The level is the source of the data. A known mem_lvl_num takes precedence; kernels
 * before 4.14, and AMD's before 6.6, only fill mem_lvl. A missed level does not identify
 * the source, therefore it is NA. Caches without a name here (L4, a memory-side cache)
 * and unknown codes are NA, too; RAW retains them. Memory on CXL is REMOTE_DRAM, another
 * core's cache without a shared L3 is REMOTE_CACHE.
 *
 * Snoop "none": none was needed, or no other cache had the line; "hit": another cache
 * had it unchanged; "hitm": changed. TLB "miss": a page walk was needed. */
bool datasrc_decode(uint64_t raw, struct data_source_row *row);

/* The three parts of a sample's weight. Their meaning depends on the CPU. Intel up to
 * Ice Lake: LATENCY is the load latency and the others are 0. From Alder Lake and
 * Sapphire Rapids on: LATENCY is the cache's part of INSTRUCTION_LATENCY, and the ldlat
 * threshold applies to INSTRUCTION_LATENCY. AMD: LATENCY is the latency of an L1 miss
 * and INSTRUCTION_LATENCY the time from tag to retirement. All in core cycles; 0: not
 * known. */
struct datasrc_weight {
        uint64_t latency_cycles;
        uint16_t instruction_latency_cycles;
        uint16_t retire_latency_cycles; /* old kernels: undefined if the CPU has none */
};

/* RAW is the unchanged field of a sample of SAMPLE_TYPE, which has WEIGHT or
 * WEIGHT_STRUCT. */
struct datasrc_weight datasrc_weight(uint64_t sample_type, uint64_t raw);

#endif
