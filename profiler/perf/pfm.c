/* SPDX-License-Identifier: MIT */
/* Asks libpfm4 for the load latency event. Its stores are not asked for: version 4.13 has
 * a wrong code for those of Sapphire Rapids. */
#include "pfm.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

void machine_ask_pfm(struct machine *machine)
{
        struct perf_event_attr attr = {0};
        pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
        if (machine->pmu_count != 1 || pfm_initialize() != PFM_SUCCESS)
                return;
        if (pfm_get_os_event_encoding("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3", PFM_PLM3,
                                      PFM_OS_PERF_EVENT, &arg) == PFM_SUCCESS)
                machine->pmus[0].pfm_loads = (struct machine_alias){
                    true, {{attr.config, attr.config1, attr.config2}}};
        pfm_terminate();
}
