/* SPDX-License-Identifier: MIT */
/* Asks libpfm4 for events. Its stores are not asked for: version 4.13 has
 * a wrong code for those of Sapphire Rapids. */
#include "pfm.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

bool pfm_find(const char *name, struct pmu_code *code)
{
        struct perf_event_attr attr = {0};
        pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
        if (pfm_initialize() != PFM_SUCCESS)
                return false;
        bool found = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) ==
                     PFM_SUCCESS;
        *code = (struct pmu_code){{attr.config, attr.config1, attr.config2}};
        pfm_terminate();
        return found;
}

void machine_ask_pfm(struct machine *machine)
{
        struct pmu_code code;
        if (machine->pmu_count == 1 &&
            pfm_find("MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3", &code))
                machine->pmus[0].pfm_loads = (struct machine_alias){true, code};
}
