// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the scripted PMU and says what kind of CPU it is. */
#include <linux/module.h>

#include "scripted_pmu.h"

/* Each event reads the writable parameters anew. */
bool load_latency_needs_aux;
module_param_named(aux, load_latency_needs_aux, bool, 0444);
MODULE_PARM_DESC(aux, "load latency wants the auxiliary event before it in its group");

bool knows_weight_struct = true;
module_param_named(weight_struct, knows_weight_struct, bool, 0644);
MODULE_PARM_DESC(weight_struct, "accept PERF_SAMPLE_WEIGHT_STRUCT, as kernels from 5.12");

int max_precise = 3;
module_param(max_precise, int, 0644);
MODULE_PARM_DESC(max_precise, "highest precise_ip; 0 is a CPU without PEBS");

uint sampling_floor_ns = 20000;
module_param_named(floor_ns, sampling_floor_ns, uint, 0644);
MODULE_PARM_DESC(floor_ns, "shortest time between two samples of an event");

char *pmu_name = "icelake";
module_param(pmu_name, charp, 0444);
MODULE_PARM_DESC(pmu_name, "text of caps/pmu_name");

static int __init scripted_pmu_init(void)
{
        int error = kernel_symbols_find();

        if (error)
                return error;
        error = counters_open();
        if (error)
                return error;
        error = journal_open();
        if (error)
                return error;
        error = control_open();
        if (error)
                goto close_journal;
        error = events_open();
        if (error)
                goto close_control;
        error = imc_open();
        if (error)
                goto close_events;
        error = ibs_open();
        if (error)
                goto close_imc;
        error = cores_open();
        if (error)
                goto close_ibs;
        return 0;
close_ibs:
        ibs_close();
close_imc:
        imc_close();
close_events:
        events_close();
close_control:
        control_close();
close_journal:
        journal_close();
        return error;
}

/* The module cannot be unloaded: the kernel keeps the number of a PMU type below
 * PERF_TYPE_MAX for ever and cannot register it again. The machine is switched off. */
module_init(scripted_pmu_init);
MODULE_DESCRIPTION("A core PMU that plays a script");
MODULE_LICENSE("GPL");
