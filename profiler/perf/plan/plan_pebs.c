/* SPDX-License-Identifier: MIT */
/* Chooses the sampled events of Intel's CPUs; plan_counters.c chooses the counters
 * beside them. The table has the facts of each CPU; the code is the same for all
 * CPUs. */
#include "plan_pebs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "attributes.h"
#include "intel_core.h"
#include "plan_counters.h"
#include "plan_imc.h"

/* The bits of the load latency threshold, MSR 0x3F6, and its least value (SDM vol. 3B,
 * "Load Latency Performance Monitoring Facility"). Loads above the threshold are
 * counted, and no load has less than 4 cycles: a smaller threshold selects the same
 * loads. */
enum { LDLAT_MIN = 3, LDLAT_MAX = 0xffff };
static const struct pmu_field LDLAT_FIELD = {.word = 1, .mask = LDLAT_MAX};

/* ---- samples ---- */

/* The event for loads: the kernel's own name for it first, then libpfm4, then the table.
 */
static bool find_loads(const struct intel_core *core, struct pmu_code *code)
{
        const struct event *event = intel_core_event(core, ROLE_LOADS);
        if (core->pmu->mem_loads.known)
                *code = core->pmu->mem_loads.code;
        else if (core->pmu->pfm_loads.known)
                *code = core->pmu->pfm_loads.code;
        else if (event)
                *code = (struct pmu_code){{event->config}};
        else
                return false;
        return true;
}

/* Finds the event that must lead the loads' group, if any. A kernel that names the load
 * event but not the leader needs no leader. */
static bool find_auxiliary(const struct intel_core *core, struct pmu_code *code)
{
        const struct event *event = intel_core_event(core, ROLE_AUXILIARY);
        if (core->pmu->mem_loads_aux.known)
                *code = core->pmu->mem_loads_aux.code;
        else if (!core->pmu->mem_loads.known && event)
                *code = (struct pmu_code){{event->config}};
        else
                return false;
        return true;
}

static bool find_stores(const struct intel_core *core, struct pmu_code *code)
{
        const struct event *event = intel_core_event(core, ROLE_STORES);
        if (core->pmu->mem_stores.known)
                *code = core->pmu->mem_stores.code;
        else if (event)
                *code = (struct pmu_code){{event->config}};
        else
                return false;
        return true;
}

static int precise_ip(const struct intel_core *core, const struct pebs_limits *limits)
{
        int64_t most = core->pmu->max_precise;
        return most != MACHINE_UNKNOWN && most < limits->precise_ip ? (int)most
                                                                    : limits->precise_ip;
}

static int plan_loads(struct intel_core *core, const struct plan_options *options,
                      const struct pebs_limits *limits, const struct pmu_code *loads,
                      struct plan *plan)
{
        struct plan_group *group =
            plan_add_group_on(plan, core->pmu->cpus, core->pmu->cpu_count);
        struct pmu_code code;
        if (!group)
                return -ENOMEM;
        if (find_auxiliary(core, &code)) {
                struct perf_event_attr attr = attributes_of_counter(core->pmu->type, 0);
                attributes_set_code(&attr, &code);
                plan_add_event(group, PLAN_AUXILIARY, &attr);
                intel_core_sample(core, ROLE_AUXILIARY);
        }
        code = *loads;
        pmu_set_field(
            &code, core->pmu->ldlat.known ? &core->pmu->ldlat.field : &LDLAT_FIELD,
            options->ldlat_cycles < LDLAT_MIN ? LDLAT_MIN : options->ldlat_cycles);
        struct perf_event_attr attr =
            attributes_of_samples(core->pmu->type, 0, options, limits->weight_struct);
        attributes_set_code(&attr, &code);
        attr.precise_ip = precise_ip(core, limits) & 3;
        plan_add_event(group, PLAN_LOADS, &attr);
        intel_core_sample(core, ROLE_LOADS);
        return 0;
}

static int plan_stores(struct intel_core *core, const struct plan_options *options,
                       const struct pebs_limits *limits, struct plan *plan,
                       struct diag *diag)
{
        struct pmu_code code;
        if (!find_stores(core, &code))
                return diag_set(diag, -ENODEV,
                                "no event that samples stores is known on '%s' of this "
                                "CPU; record without --stores",
                                core->pmu->name);
        struct plan_group *group =
            plan_add_group_on(plan, core->pmu->cpus, core->pmu->cpu_count);
        if (!group)
                return diag_no_memory(diag);
        struct plan_options of_stores = *options;
        of_stores.period = options->store_period;
        struct perf_event_attr attr =
            attributes_of_samples(core->pmu->type, 0, &of_stores, limits->weight_struct);
        attributes_set_code(&attr, &code);
        attr.precise_ip = precise_ip(core, limits) & 3;
        plan_add_event(group, PLAN_STORES, &attr);
        intel_core_sample(core, ROLE_STORES);
        return 0;
}

/* Plans the samples on CORE. -ENODEV with the reason when it cannot sample loads. */
static int plan_samples(const struct machine *machine, struct intel_core *core,
                        const struct plan_options *options,
                        const struct pebs_limits *limits, struct plan *plan,
                        struct diag *diag)
{
        struct pmu_code loads;
        if (precise_ip(core, limits) < 1)
                return diag_set(
                    diag, -ENODEV,
                    "'%s' has no precise events (max_precise is 0), and imprecise "
                    "samples "
                    "have no address; use a host that passes on PEBS, or --source sim",
                    core->pmu->name);
        if (!find_loads(core, &loads))
                return diag_set(
                    diag, -ENODEV,
                    "no load latency event is known on '%s' of this CPU (family %" PRId64
                    " model %" PRId64 "), neither by the kernel nor by libpfm4 nor by "
                    "memlag; use a newer kernel, or --source sim",
                    core->pmu->name, machine->family, machine->model);
        int code = plan_loads(core, options, limits, &loads, plan);
        if (code)
                return diag_no_memory(diag);
        return options->stores ? plan_stores(core, options, limits, plan, diag) : 0;
}

/* Samples that are not multiplexed retain their counters against other users. */
static void pin_samples(struct plan *plan)
{
        for (size_t i = 0; i < plan->group_count; i++) {
                struct plan_group *group = &plan->groups[i];
                if (group->events[0].use != PLAN_COUNTER)
                        group->events[0].attr.pinned =
                            plan->counters_rotate && !plan->samples_rotate;
        }
}

/* ---- all of it ---- */

static int check(const struct machine *machine, const struct plan_options *options,
                 struct diag *diag)
{
        if (strcmp(machine->vendor, "GenuineIntel") != 0)
                return diag_set(diag, -ENODEV,
                                "only Intel CPUs have PEBS; use --source ibs on AMD's, "
                                "or --source sim");
        if (!machine->pmu_count)
                return diag_set(diag, -ENODEV,
                                "no core PMU: the CPU's counters cannot be used%s; use "
                                "--source sim",
                                machine->hypervisor
                                    ? " in this virtual machine as it was started"
                                    : "");
        if (options->ldlat_cycles > LDLAT_MAX)
                return diag_set(diag, -EINVAL,
                                "a load latency of %" PRIu32
                                " cycles: Intel CPUs take %d at most",
                                options->ldlat_cycles, LDLAT_MAX);
        return 0;
}

int plan_pebs(const struct machine *machine, const struct plan_options *options,
              const struct pebs_limits *limits, struct plan *plan, struct diag *diag)
{
        struct intel_core cores[MACHINE_PMUS_MAX];
        size_t count = 0;
        *plan = (struct plan){.groups = NULL};
        int code = check(machine, options, diag);
        for (size_t i = 0; !code && i < machine->pmu_count; i++) {
                cores[count] =
                    intel_core_describe(machine, &machine->pmus[i], limits->counters);
                cores[count].validated = options->validated;
                code = plan_samples(machine, &cores[count], options, limits, plan, diag);
                count += code == 0;
                /* Loads on one kind of core are better than none. */
                if (code == -ENODEV && (count || i + 1 < machine->pmu_count) &&
                    !options->stores)
                        code = 0;
        }
        if (code)
                return code;
        for (size_t i = 0; options->counters && !code && i < count; i++)
                code = plan_counters(&cores[i], plan);
        if (options->counters && !code)
                code = plan_imc(machine, plan);
        pin_samples(plan);
        return code ? diag_no_memory(diag) : 0;
}

/* LMRL's events lead the first group of counters (plan_counters.c). */
static const struct plan_group *lmrl_group(const struct plan *plan)
{
        size_t i = 0;
        while (i < plan->group_count && plan->groups[i].events[0].use != PLAN_COUNTER)
                i++;
        return i < plan->group_count ? &plan->groups[i] : NULL;
}

bool plan_pebs_stores_are_free(const struct plan *with, const struct plan *without)
{
        enum { LMRL_EVENTS = 3 };
        const struct plan_group *after = lmrl_group(with), *before = lmrl_group(without);
        if (with->counters_rotate != without->counters_rotate ||
            with->samples_rotate != without->samples_rotate || !after || !before ||
            after->count < LMRL_EVENTS)
                return false;
        for (size_t i = 0; i < LMRL_EVENTS; i++)
                if (after->events[i].attr.config != before->events[i].attr.config)
                        return false;
        return true;
}
