// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the scripted PMU with the properties of the machine's CPU. */
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

static const struct {
        int (*open)(void);
        void (*close)(void);
} parts[] = {
    {kernel_symbols_find},         {counters_open},
    {journal_open, journal_close}, {control_open, control_close},
    {events_open, events_close},   {imc_open, imc_close},
    {ibs_open, ibs_close},         {cores_open},
};

static int __init scripted_pmu_init(void)
{
        int error = 0;
        size_t i;

        for (i = 0; i < ARRAY_SIZE(parts) && !error; i++)
                error = parts[i].open();
        if (error)
                for (i--; i > 0; i--)
                        if (parts[i - 1].close)
                                parts[i - 1].close();
        return error;
}

/* The module cannot be unloaded: the kernel keeps the number of a PMU type below
 * PERF_TYPE_MAX for ever and cannot register it again. The machine is switched off. */
module_init(scripted_pmu_init);
MODULE_DESCRIPTION("A core PMU that plays a script");
MODULE_LICENSE("GPL");
