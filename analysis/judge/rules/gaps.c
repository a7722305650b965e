/* SPDX-License-Identifier: MIT */
/* The reverse of verdict.c and contention.c: the inputs of each verdict. */
#include "gaps.h"

static bool tells_lmrl(const struct recorded *recorded)
{
        const bool *counted = recorded->counted;
        return counted[CONCEPT_PENDING] &&
               (counted[CONCEPT_L1_MISS_ANY] ||
                (counted[CONCEPT_L1_MISS] && counted[CONCEPT_FB_HIT]));
}

static bool tells_fill_buffers(const struct recorded *recorded)
{
        return recorded->counted[CONCEPT_FB_FULL] && recorded->counted[CONCEPT_CYCLES];
}

size_t verdict_gaps(const struct recorded *recorded, const char *gaps[VERDICT_GAPS_MAX])
{
        size_t count = 0;
        if (!recorded->memory_samples) {
                gaps[count++] = "any: there are no memory samples";
                return count;
        }
        if (!recorded->latencies)
                gaps[count++] = "any: samples have no latency";
        if (recorded->without_waits) {
                gaps[count++] = "dram-contention and in-core: with caches only no load "
                                "waits for a value, so that nothing tells what overlaps; "
                                "--sim-detail full does";
                return count;
        }
        if (!tells_lmrl(recorded))
                gaps[count++] = "dram-contention: outstanding L1 misses, L1 misses and "
                                "fill buffer hits were not all counted";
        if (!tells_fill_buffers(recorded))
                gaps[count++] =
                    "in-core: full fill buffers and cycles were not both counted";
        if (!recorded->levels)
                gaps[count++] = "dram-latency, remote-memory and cache: samples do not "
                                "tell where data came from";
        if (!recorded->tlb)
                gaps[count++] = "tlb: samples do not tell of the TLB";
        if (!recorded->snoops)
                gaps[count++] = "sharing: samples do not tell of other caches";
        return count;
}
