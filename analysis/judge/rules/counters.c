/* SPDX-License-Identifier: MIT */
/* The event names of every concept, as data: a new CPU generation only adds rows. Names
 * are from Intel's perfmon event lists and from AMD. */
#include "counters.h"

#include <stddef.h>
#include <strings.h>

static const struct {
        const char *name;
        enum concept concept;
} events[] = {
    {"cpu_clk_unhalted.thread", CONCEPT_CYCLES},
    {"inst_retired.any", CONCEPT_INSTRUCTIONS},
    {"mem_inst_retired.all_loads", CONCEPT_LOADS}, /* Skylake and later */
    {"mem_uops_retired.all_loads", CONCEPT_LOADS}, /* Haswell, Broadwell, Atoms */
    {"l1d_pend_miss.pending", CONCEPT_PENDING},
    {"mem_load_retired.l1_miss", CONCEPT_L1_MISS},      /* Skylake and later */
    {"mem_load_uops_retired.l1_miss", CONCEPT_L1_MISS}, /* Haswell, Broadwell */
    {"mem_load_retired.fb_hit", CONCEPT_FB_HIT},
    {"mem_load_uops_retired.hit_lfb", CONCEPT_FB_HIT},
    {"mem_load_completed.l1_miss_any", CONCEPT_L1_MISS_ANY}, /* Sapphire Rapids */
    {"l1d_pend_miss.fb_full", CONCEPT_FB_FULL},
    {"offcore_requests.all_requests", CONCEPT_OFFCORE},
    {"offcore_requests_buffer.sq_full", CONCEPT_SQ_FULL}, /* Haswell to Cascade Lake */
    {"cycle_activity.stalls_l1d_pending", CONCEPT_STALLS_L1D}, /* Haswell */
    {"cycle_activity.stalls_l1d_miss", CONCEPT_STALLS_L1D},
    {"memory_activity.stalls_l1d_miss", CONCEPT_STALLS_L1D}, /* Golden Cove and later */
    {"mem_bound_stalls.load", CONCEPT_STALLS_L1D},           /* Gracemont */
    {"mem_bound_stalls_load.all", CONCEPT_STALLS_L1D},       /* Crestmont */
    {"resource_stalls.sb", CONCEPT_STORE_BUFFER},
    {"cycle_activity.cycles_no_execute", CONCEPT_STALLS}, /* Haswell */
    {"cycle_activity.stalls_total", CONCEPT_STALLS},
    {"cycle_activity.stalls_l2_pending", CONCEPT_STALLS_L2}, /* Haswell */
    {"cycle_activity.stalls_l2_miss", CONCEPT_STALLS_L2},
    {"memory_activity.stalls_l2_miss", CONCEPT_STALLS_L2}, /* Golden Cove and later */
    {"cycle_activity.stalls_l3_miss", CONCEPT_STALLS_L3},  /* Skylake */
    {"memory_activity.stalls_l3_miss", CONCEPT_STALLS_L3},
    {"mem_inst_retired.split_loads", CONCEPT_SPLIT_LOADS},
    {"mem_uops_retired.split_loads", CONCEPT_SPLIT_LOADS}, /* Haswell, Broadwell */
    {"ld_blocks_partial.address_alias", CONCEPT_ALIASED_LOADS},
    {"br_misp_retired.all_branches", CONCEPT_MISPREDICTED},
    {"page-faults", CONCEPT_PAGE_FAULTS}, /* of the kernel and the simulated PMU */
    {"kernel.fault_cycles", CONCEPT_KERNEL_FAULT},
    {"kernel.call_cycles", CONCEPT_KERNEL_CALL},
    {"ls_not_halted_cyc", CONCEPT_CYCLES}, /* Zen */
    {"ex_ret_instr", CONCEPT_INSTRUCTIONS},
    {"dram.read_bytes", CONCEPT_DRAM_READ},
    {"dram.write_bytes", CONCEPT_DRAM_WRITE},
};

enum concept counter_concept(const char *name)
{
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
                if (strcasecmp(events[i].name, name) == 0) {
                        return events[i].concept;
                }
        return CONCEPT_NONE;
}
