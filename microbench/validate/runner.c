/* SPDX-License-Identifier: MIT */
/* Common parts of all runners: the list of events with their intended concepts. */
#include "runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Looks up a name's prefix: Intel's names in lower case, older generations first, and
 * AMD's names. */
static enum concept concept_of(const char *name)
{
        static const struct {
                const char *name;
                enum concept concept;
        } known[] = {
            {"inst_retired.any", CONCEPT_INSTRUCTIONS},
            {"mem_uops_retired.all_loads", CONCEPT_LOADS},
            {"mem_inst_retired.all_loads", CONCEPT_LOADS},
            {"mem_uops_retired.all_stores", CONCEPT_STORES},
            {"mem_inst_retired.all_stores", CONCEPT_STORES},
            {"mem_load_uops_retired.l1_miss", CONCEPT_L1_MISS},
            {"mem_load_retired.l1_miss", CONCEPT_L1_MISS},
            {"mem_load_uops_retired.hit_lfb", CONCEPT_FB_HIT},
            {"mem_load_retired.fb_hit", CONCEPT_FB_HIT},
            {"mem_load_completed.l1_miss_any", CONCEPT_L1_MISS_ANY},
            {"l1d.replacement", CONCEPT_L1_MISS},
            {"mem_load_retired.l3_miss", CONCEPT_DEMAND_READ},
            {"mem_load_uops_retired.l3_miss", CONCEPT_DEMAND_READ},
            {"longest_lat_cache.miss", CONCEPT_DRAM_READ},
            {"l2_lines_in.all", CONCEPT_DRAM_READ},
            {"offcore_response.demand_data_rd", CONCEPT_DEMAND_READ},
            {"offcore_requests.demand_data_rd", CONCEPT_DEMAND_READ},
            {"offcore_requests.l3_miss_demand_data_rd", CONCEPT_DEMAND_READ},
            {"ocr.demand_data_rd", CONCEPT_DEMAND_READ},
            {"offcore_requests.demand_rfo", CONCEPT_DEMAND_RFO},
            {"ocr.demand_rfo", CONCEPT_DEMAND_RFO},
            {"dram.read_bytes", CONCEPT_DRAM_READ},
            {"dram.write_bytes", CONCEPT_DRAM_WRITE},
            /* Counts cycles or occurrences, not the amount. */
            {"l1d_pend_miss.pending_cycles", CONCEPT_COUNT},
            {"l1d_pend_miss.fb_full_periods", CONCEPT_COUNT},
            {"l1d_pend_miss.pending", CONCEPT_PENDING},
            {"l1d_pend_miss.fb_full", CONCEPT_FB_FULL},
            {"cycle_activity.cycles_no_execute", CONCEPT_STALLS},
            {"cycle_activity.stalls_total", CONCEPT_STALLS},
            {"uops_executed.stall", CONCEPT_STALLS},
            {"cycle_activity.stalls_l1d", CONCEPT_MEMORY_STALLS},
            {"memory_activity.stalls_l1d", CONCEPT_MEMORY_STALLS},
            {"cycle_activity.stalls_l2", CONCEPT_L2_MISS_STALLS},
            {"memory_activity.stalls_l2", CONCEPT_L2_MISS_STALLS},
            {"cycle_activity.stalls_l3", CONCEPT_L3_MISS_STALLS},
            {"memory_activity.stalls_l3", CONCEPT_L3_MISS_STALLS},
            {"cycle_activity.stalls_ldm_pending", CONCEPT_MEMORY_STALLS},
            {"cycle_activity.stalls_mem_any", CONCEPT_MEMORY_STALLS},
            {"exe_activity.bound_on_loads", CONCEPT_MEMORY_STALLS},
            {"resource_stalls.sb", CONCEPT_STORE_STALLS},
            {"exe_activity.bound_on_stores", CONCEPT_STORE_STALLS},
            {"offcore_requests_buffer.sq_full", CONCEPT_SQ_FULL},
            {"ex_ret_instr", CONCEPT_INSTRUCTIONS},
            {"ls_dispatch.ld_dispatch", CONCEPT_LOADS},
            {"ls_dispatch.store_dispatch", CONCEPT_STORES},
            {"ls_mab_alloc.load", CONCEPT_L1_MISS},
            {"ls_alloc_mab_count", CONCEPT_PENDING},
            {"ls_refills_from_sys.ls_mabresp_lcl_dram", CONCEPT_DRAM_READ},
            {"ls_dmnd_fills_from_sys.dram", CONCEPT_DRAM_READ},
            {"ls_any_fills_from_sys.dram", CONCEPT_DRAM_READ},
            {"de_dis_dispatch_token_stalls1.store_queue", CONCEPT_STORE_STALLS},
        };
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                if (strncmp(name, known[i].name, strlen(known[i].name)) == 0) {
                        return known[i].concept;
                }
        return CONCEPT_COUNT;
}

int runner_add_candidate(struct runner *runner, const char *name, bool recorded,
                         struct diag *diag)
{
        struct candidate *grown =
            reallocarray(runner->candidates, runner->count + 1, sizeof(*grown));
        if (!grown)
                return diag_no_memory(diag);
        runner->candidates = grown;
        enum concept concept = concept_of(name);
        grown[runner->count] =
            (struct candidate){.name = strdup(name),
                               .concept = concept,
                               .recorded = recorded && concept != CONCEPT_COUNT,
                               .wanted = true};
        if (!grown[runner->count].name)
                return diag_no_memory(diag);
        runner->count++;
        return 0;
}

void runner_free_candidates(struct runner *runner)
{
        for (size_t i = 0; i < runner->count; i++)
                free(runner->candidates[i].name);
        free(runner->candidates);
}
