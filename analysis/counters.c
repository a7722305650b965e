/* SPDX-License-Identifier: MIT */
/* The event names of every concept, as data: a new CPU generation adds rows and
 * nothing else. Names are Intel's, as in its perfmon event lists. */
#include "counters.h"

#include <stddef.h>
#include <strings.h>

static const struct {
        const char *name;
        enum concept concept;
} events[] = {
    {"cpu_clk_unhalted.thread", CONCEPT_CYCLES},
    {"inst_retired.any", CONCEPT_INSTRUCTIONS},
    {"l1d_pend_miss.pending", CONCEPT_PENDING},
    {"mem_load_retired.l1_miss", CONCEPT_L1_MISS},      /* Skylake and later */
    {"mem_load_uops_retired.l1_miss", CONCEPT_L1_MISS}, /* Haswell, Broadwell */
    {"mem_load_retired.fb_hit", CONCEPT_FB_HIT},
    {"mem_load_uops_retired.hit_lfb", CONCEPT_FB_HIT},
    {"mem_load_completed.l1_miss_any", CONCEPT_L1_MISS_ANY}, /* Sapphire Rapids */
    {"l1d_pend_miss.fb_full", CONCEPT_FB_FULL},
    {"dram.read_bytes", CONCEPT_DRAM_READ},
    {"dram.write_bytes", CONCEPT_DRAM_WRITE},
};

enum concept counter_concept(const char *name)
{
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
                if (strcasecmp(events[i].name, name) == 0)
        return events[i].concept;
        return CONCEPT_NONE;
}
