/* SPDX-License-Identifier: MIT */
/* The rules of the PMU ibs_op (Linux, arch/x86/events/amd/ibs.c): the accepted periods,
 * and that it cannot exclude a CPU mode without software filtering. */
#include "plan_ibs.h"

#include <errno.h>
#include <string.h>

#include "attributes.h"

enum {
        PERIOD_STEP = 16,
        PERIOD_MIN = 144,         /* 0x90, the least that kernels accept */
        PERIOD_MAX = 0xffff << 4, /* maximum that every IBS supports */
        LDLAT_STEP = 128,
        LDLAT_MAX = 2048
};

static uint64_t allowed_period(uint64_t period)
{
        if (period < PERIOD_MIN)
                return PERIOD_MIN;
        if (period > PERIOD_MAX)
                return PERIOD_MAX;
        return period - period % PERIOD_STEP;
}

/* Checks whether IBS supports the latency threshold; -EINVAL with the reason. */
static int check_ldlat(const struct machine_ibs *ibs, uint32_t cycles, struct diag *diag)
{
        if (cycles && !ibs->ldlat.known)
                return diag_set(diag, -EINVAL,
                                "this CPU's IBS, or this kernel, cannot choose loads by "
                                "latency (Zen 5 can); record without --ldlat");
        if (cycles && cycles < LDLAT_STEP)
                return diag_set(diag, -EINVAL,
                                "the least threshold of IBS is %d cycles; record with "
                                "--ldlat=%d, or without",
                                LDLAT_STEP, LDLAT_STEP);
        return 0;
}

/* Returns the greatest valid threshold not above CYCLES; 0: none. */
static uint64_t allowed_ldlat(uint32_t cycles)
{
        return cycles > LDLAT_MAX ? LDLAT_MAX : cycles - cycles % LDLAT_STEP;
}

static int plan_samples(const struct machine *machine, const struct plan_options *options,
                        bool weight_struct, struct plan *plan)
{
        const struct machine_ibs *ibs = &machine->ibs;
        struct plan_group *group = plan_add_group(plan);
        if (!group)
                return -ENOMEM;
        struct perf_event_attr attr =
            attributes_of_samples(ibs->type, 0, options, weight_struct);
        struct pmu_code code = {{0}};
        uint64_t ldlat = allowed_ldlat(options->ldlat_cycles);
        if (ibs->cnt_ctl.known)
                pmu_set_field(&code, &ibs->cnt_ctl.field, 1);
        if (ldlat)
                pmu_set_field(&code, &ibs->ldlat.field, ldlat);
        if (ibs->swfilt.known)
                pmu_set_field(&code, &ibs->swfilt.field, 1);
        attributes_set_code(&attr, &code);
        attr.exclude_kernel = ibs->swfilt.known;
        attr.exclude_hv = 0;
        if (!attr.freq)
                attr.sample_period = allowed_period(options->period);
        plan_add_event(group, PLAN_LOADS, &attr);
        return 0;
}

static int plan_counters(struct plan *plan)
{
        static const struct {
                uint64_t config;
                const char *name, *unit;
        } counters[] = {
            {PERF_COUNT_HW_CPU_CYCLES, "ls_not_halted_cyc", "cycles"},
            {PERF_COUNT_HW_INSTRUCTIONS, "ex_ret_instr", "events"},
        };
        struct plan_group *group = plan_add_group(plan);
        if (!group)
                return -ENOMEM;
        for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
                struct perf_event_attr attr =
                    attributes_of_counter(PERF_TYPE_HARDWARE, counters[i].config);
                struct plan_event *event = plan_add_event(group, PLAN_COUNTER, &attr);
                event->name = counters[i].name;
                event->unit = counters[i].unit;
        }
        return 0;
}

int plan_ibs(const struct machine *machine, const struct plan_options *options,
             bool weight_struct, struct plan *plan, struct diag *diag)
{
        *plan = (struct plan){.groups = NULL};
        if (strcmp(machine->vendor, "AuthenticAMD") != 0)
                return diag_set(
                    diag, -ENODEV,
                    "only AMD CPUs have IBS; use --source pebs on Intel's, or "
                    "--source sim");
        if (!machine->ibs_op)
                return diag_set(
                    diag, -ENODEV, "the kernel has no PMU 'ibs_op'%s; %s",
                    machine->ibs_flag ? "" : ", and the CPU shows no IBS",
                    machine->hypervisor
                        ? "hosts do not pass IBS on: use the host or a bare "
                          "metal instance, or --source sim"
                        : "look for 'IBS' in the kernel's log (dmesg), or use "
                          "--source sim");
        int code = check_ldlat(&machine->ibs, options->ldlat_cycles, diag);
        if (code)
                return code;
        code = plan_samples(machine, options, weight_struct, plan);
        if (!code && options->counters && machine->pmu_count)
                code = plan_counters(plan);
        return code ? diag_no_memory(diag) : 0;
}
