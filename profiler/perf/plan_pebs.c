/* SPDX-License-Identifier: MIT */
/* Chooses Intel's events and packs them into groups. The facts of each CPU are in the
 * table; there is one way for all of them. */
#include "plan_pebs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "counter_fit.h"
#include "event_table.h"

/* The bits of the load latency threshold, MSR 0x3F6, and its least value (SDM vol. 3B,
 * "Load Latency Performance Monitoring Facility"). */
enum { LDLAT_MIN = 3, LDLAT_MAX = 0xffff };
static const struct pmu_field LDLAT_FIELD = {.word = 1, .mask = LDLAT_MAX};

/* Architectural events, the same on every Intel CPU (SDM vol. 3B, "Pre-defined
 * Architectural Performance Events"). */
static const struct event ARCHITECTURAL_CYCLES = {"cpu_clk_unhalted.thread", 0x3c, 0};
static const struct event ARCHITECTURAL_INSTRUCTIONS = {"inst_retired.any", 0xc0, 0};

/* Events that make one metric and are counted together or not at all; ROLE_COUNT ends a
 * set. In the order of importance. */
enum { SET_EVENTS_MAX = 3 };
static const enum event_role sets[][SET_EVENTS_MAX + 1] = {
    {ROLE_PENDING, ROLE_L1_MISS_ANY, ROLE_L1_MISS, ROLE_COUNT}, /* LMRL, from SPR on */
    {ROLE_PENDING, ROLE_L1_MISS, ROLE_FB_HIT, ROLE_COUNT},      /* LMRL */
    {ROLE_FB_FULL, ROLE_SQ_FULL, ROLE_STORE_BUFFER,
     ROLE_COUNT}, /* M17: bandwidth bound */
    {ROLE_STALLS, ROLE_STALLS_L1D, ROLE_STORE_BUFFER, ROLE_COUNT}, /* M17: memory bound */
    {ROLE_ALL_LOADS, ROLE_COUNT},
};
static const enum event_role LMRL_ANY_ALONE[] = {ROLE_PENDING, ROLE_L1_MISS_ANY,
                                                 ROLE_COUNT};
static const enum event_role L1_MISS_ALONE[] = {ROLE_L1_MISS, ROLE_COUNT};
enum { SETS = sizeof(sets) / sizeof(sets[0]), SET_LMRL_ANY = 0, SET_LMRL = 1 };

/* One core PMU, and what is known about it. */
struct core {
        const struct machine_pmu *pmu;
        const char *platform; /* NULL: not in the table */
        enum core_kind kind;
        uint64_t counters; /* that exist and are free, as bits */
        /* The sampled events' counters. */
        uint64_t sampled[3];
        size_t sampled_count;
};

static const struct event *core_event(const struct core *core, enum event_role role)
{
        return core->platform ? event_find(core->platform, core->kind, role, 0) : NULL;
}

static uint64_t counters_of(const struct core *core, const struct event *event)
{
        return (event && event->counters ? event->counters : ~UINT64_C(0)) &
               core->counters;
}

/* ---- what the core is ----------------------------------------------------------------
 */

static enum core_kind kind_of(const struct machine_pmu *pmu,
                              const struct event_platform *platform)
{
        if (strcmp(pmu->name, "cpu_core") == 0)
                return CORE_P;
        if (strcmp(pmu->name, "cpu") == 0)
                return platform ? platform->core : CORE_P;
        return CORE_E;
}

/* The counters that a group can have. The NMI watchdog keeps fixed counter 1, that of the
 * cycles, for itself. */
static uint64_t free_counters(const struct machine *machine, const struct core *core,
                              const struct pebs_limits *limits)
{
        enum { UNKNOWN_CPU_COUNTERS = 4, FIXED_COUNTERS = 3 };
        unsigned general = limits->counters;
        if (!general)
                general = machine->counters;
        if (!general && core->platform)
                general = event_counters(core->platform, core->kind);
        if (!general)
                general = UNKNOWN_CPU_COUNTERS;
        if (general > EVENT_FIXED_SHIFT - 1)
                general = EVENT_FIXED_SHIFT - 1;
        uint64_t fixed = (UINT64_C(1) << FIXED_COUNTERS) - 1;
        if (machine->nmi_watchdog)
                fixed &= ~UINT64_C(2);
        return ((UINT64_C(1) << general) - 1) | fixed << EVENT_FIXED_SHIFT;
}

static struct core describe_core(const struct machine *machine,
                                 const struct machine_pmu *pmu,
                                 const struct pebs_limits *limits)
{
        const struct event_platform *platform =
            event_platform_find(machine->family, machine->model, machine->stepping);
        struct core core = {
            .pmu = pmu,
            .platform = platform ? platform->name : NULL,
            .kind = kind_of(pmu, platform),
        };
        core.counters = free_counters(machine, &core, limits);
        return core;
}

/* ---- samples -------------------------------------------------------------------------
 */

/* The event for loads: the kernel's own name for it first, then libpfm4, then the table.
 */
static bool find_loads(const struct core *core, struct pmu_code *code)
{
        const struct event *event = core_event(core, ROLE_LOADS);
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

/* The event that must lead the loads' group, if any. A kernel that has names for the one
 * and not for the other needs no leader. */
static bool find_auxiliary(const struct core *core, struct pmu_code *code)
{
        const struct event *event = core_event(core, ROLE_AUXILIARY);
        if (core->pmu->mem_loads_aux.known)
                *code = core->pmu->mem_loads_aux.code;
        else if (!core->pmu->mem_loads.known && event)
                *code = (struct pmu_code){{event->config}};
        else
                return false;
        return true;
}

static bool find_stores(const struct core *core, struct pmu_code *code)
{
        const struct event *event = core_event(core, ROLE_STORES);
        if (core->pmu->mem_stores.known)
                *code = core->pmu->mem_stores.code;
        else if (event)
                *code = (struct pmu_code){{event->config}};
        else
                return false;
        return true;
}

static void set_code(struct perf_event_attr *attr, const struct pmu_code *code)
{
        attr->config = code->words[0];
        attr->config1 = code->words[1];
        attr->config2 = code->words[2];
}

static int precise_ip(const struct core *core, const struct pebs_limits *limits)
{
        int64_t most = core->pmu->max_precise;
        return most != MACHINE_UNKNOWN && most < limits->precise_ip ? (int)most
                                                                    : limits->precise_ip;
}

static struct plan_event *add_event(struct plan_group *group, enum plan_use use,
                                    const struct perf_event_attr *attr)
{
        struct plan_event *event = &group->events[group->count++];
        *event = (struct plan_event){.attr = *attr, .use = use, .scale = 1};
        return event;
}

/* An empty group where CORE is. */
static struct plan_group *add_group(struct plan *plan, const int *cpus, size_t cpu_count)
{
        struct plan_group *group = plan_add_group(plan);
        if (!group || !cpu_count)
                return group;
        group->cpus = malloc(cpu_count * sizeof(*group->cpus));
        if (!group->cpus)
                return NULL;
        memcpy(group->cpus, cpus, cpu_count * sizeof(*group->cpus));
        group->cpu_count = cpu_count;
        return group;
}

static void take_counter(struct core *core, enum event_role role)
{
        core->sampled[core->sampled_count++] = counters_of(core, core_event(core, role));
}

static int plan_loads(struct core *core, const struct plan_options *options,
                      const struct pebs_limits *limits, const struct pmu_code *loads,
                      struct plan *plan)
{
        struct plan_group *group = add_group(plan, core->pmu->cpus, core->pmu->cpu_count);
        struct pmu_code code;
        if (!group)
                return -ENOMEM;
        if (find_auxiliary(core, &code)) {
                struct perf_event_attr attr = attributes_of_counter(core->pmu->type, 0);
                set_code(&attr, &code);
                add_event(group, PLAN_AUXILIARY, &attr);
                take_counter(core, ROLE_AUXILIARY);
        }
        code = *loads;
        pmu_set_field(&code,
                      core->pmu->ldlat.known ? &core->pmu->ldlat.field : &LDLAT_FIELD,
                      options->ldlat_cycles);
        struct perf_event_attr attr =
            attributes_of_samples(core->pmu->type, 0, options, limits->weight_struct);
        set_code(&attr, &code);
        attr.precise_ip = precise_ip(core, limits) & 3;
        add_event(group, PLAN_LOADS, &attr);
        take_counter(core, ROLE_LOADS);
        return 0;
}

static int plan_stores(struct core *core, const struct plan_options *options,
                       const struct pebs_limits *limits, struct plan *plan,
                       struct diag *diag)
{
        struct pmu_code code;
        if (!find_stores(core, &code))
                return diag_set(diag, -ENODEV,
                                "no event that samples stores is known on '%s' of this "
                                "CPU; record without --stores",
                                core->pmu->name);
        struct plan_group *group = add_group(plan, core->pmu->cpus, core->pmu->cpu_count);
        if (!group)
                return diag_set(diag, -ENOMEM, "no memory");
        struct plan_options of_stores = *options;
        of_stores.period = options->store_period;
        struct perf_event_attr attr =
            attributes_of_samples(core->pmu->type, 0, &of_stores, limits->weight_struct);
        set_code(&attr, &code);
        attr.precise_ip = precise_ip(core, limits) & 3;
        add_event(group, PLAN_STORES, &attr);
        take_counter(core, ROLE_STORES);
        return 0;
}

/* Plans what is sampled on CORE. -ENODEV with the reason when it cannot sample loads. */
static int plan_samples(const struct machine *machine, struct core *core,
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
                return diag_set(diag, code, "no memory");
        return options->stores ? plan_stores(core, options, limits, plan, diag) : 0;
}

/* ---- counters ------------------------------------------------------------------------
 */

/* The counters that a group holds, as events of the table. */
struct pack {
        const struct event *events[PLAN_GROUP_EVENTS_MAX];
        enum event_role roles[PLAN_GROUP_EVENTS_MAX];
        size_t count;
        bool beside_samples; /* fits while the samples are taken */
};

static bool has(const struct pack *pack, enum event_role role)
{
        for (size_t i = 0; i < pack->count; i++)
                if (pack->roles[i] == role)
                        return true;
        return false;
}

static bool fits(const struct core *core, const struct pack *pack, bool beside_samples)
{
        uint64_t wanted[PLAN_GROUP_EVENTS_MAX + 3];
        size_t count = 0;
        for (size_t i = 0; beside_samples && i < core->sampled_count; i++)
                wanted[count++] = core->sampled[i];
        for (size_t i = 0; i < pack->count; i++)
                wanted[count++] = counters_of(core, pack->events[i]);
        return counters_fit(wanted, count);
}

/* PACK with the set's events that the CPU has and PACK has not. */
static struct pack with_set(const struct core *core, const struct pack *pack,
                            const enum event_role *set)
{
        struct pack grown = *pack;
        for (; *set != ROLE_COUNT; set++) {
                const struct event *event = core_event(core, *set);
                if (!event || has(&grown, *set) || grown.count == PLAN_GROUP_EVENTS_MAX)
                        continue;
                grown.roles[grown.count] = *set;
                grown.events[grown.count++] = event;
        }
        return grown;
}

/* Adds the event to PACK where there is still a counter for it. */
static void add_if_fits(const struct core *core, struct pack *pack, enum event_role role,
                        const struct event *event)
{
        struct pack grown = *pack;
        if (grown.count == PLAN_GROUP_EVENTS_MAX)
                return;
        grown.roles[grown.count] = role;
        grown.events[grown.count++] = event;
        if (fits(core, &grown, pack->beside_samples))
                *pack = grown;
}

static bool set_exists(const struct core *core, size_t set)
{
        bool any_exists = core_event(core, ROLE_L1_MISS_ANY) != NULL;
        if (set == SET_LMRL_ANY || set == SET_LMRL)
                return (set == SET_LMRL_ANY) == any_exists &&
                       core_event(core, ROLE_PENDING) != NULL;
        return core_event(core, sets[set][0]) || core_event(core, sets[set][1]);
}

static void leave_out(const struct core *core, const enum event_role *set,
                      struct plan *plan)
{
        for (; *set != ROLE_COUNT; set++) {
                const struct event *event = core_event(core, *set);
                if (event && plan->left_out_count < PLAN_LEFT_OUT_MAX)
                        plan->left_out[plan->left_out_count++] = event->name;
        }
}

/* A pack of SET alone. L1_MISS beside L1_MISS_ANY is for a metric of its own: where both
 * do not fit beside the samples, it goes. */
static struct pack pack_of_set(const struct core *core, const enum event_role *set,
                               struct plan *plan)
{
        struct pack empty = {.beside_samples = true};
        struct pack pack = with_set(core, &empty, set);
        pack.beside_samples = fits(core, &pack, true);
        if (pack.beside_samples || !has(&pack, ROLE_L1_MISS_ANY))
                return pack;
        struct pack smaller = with_set(core, &empty, LMRL_ANY_ALONE);
        if (!fits(core, &smaller, true))
                return pack;
        leave_out(core, L1_MISS_ALONE, plan);
        return smaller;
}

/* Puts each set into the first pack that has room for it, or into one of its own. */
static size_t pack_sets(const struct core *core, struct pack packs[SETS],
                        struct plan *plan)
{
        size_t count = 0;
        for (size_t set = 0; set < SETS; set++) {
                struct pack grown;
                size_t i;
                if (!set_exists(core, set))
                        continue;
                for (i = 0; i < count; i++) {
                        grown = with_set(core, &packs[i], sets[set]);
                        if (fits(core, &grown, packs[i].beside_samples))
                                break;
                }
                if (i == count) {
                        grown = pack_of_set(core, sets[set], plan);
                        /* Loads in all make no metric alone: not worth taking turns. */
                        if (sets[set][0] == ROLE_ALL_LOADS && count)
                                grown.count = 0;
                        if (!grown.count || !fits(core, &grown, false)) {
                                leave_out(core, sets[set], plan);
                                continue;
                        }
                        count++;
                }
                packs[i] = grown;
        }
        return count;
}

static void add_cycles(const struct core *core, struct pack *pack)
{
        const struct event *cycles = core_event(core, ROLE_CYCLES);
        const struct event *instructions = core_event(core, ROLE_INSTRUCTIONS);
        add_if_fits(core, pack, ROLE_CYCLES, cycles ? cycles : &ARCHITECTURAL_CYCLES);
        add_if_fits(core, pack, ROLE_INSTRUCTIONS,
                    instructions ? instructions : &ARCHITECTURAL_INSTRUCTIONS);
}

static int plan_pack(const struct core *core, const struct pack *pack, struct plan *plan)
{
        struct plan_group *group = add_group(plan, core->pmu->cpus, core->pmu->cpu_count);
        if (!group)
                return -ENOMEM;
        for (size_t i = 0; i < pack->count; i++) {
                struct perf_event_attr attr =
                    attributes_of_counter(core->pmu->type, pack->events[i]->config);
                struct plan_event *event = add_event(group, PLAN_COUNTER, &attr);
                event->name = pack->events[i]->name;
                event->unit = event_role_unit(pack->roles[i]);
        }
        return 0;
}

static int plan_counters(const struct core *core, struct plan *plan)
{
        struct pack packs[SETS + 1] = {{.count = 0}};
        size_t count = pack_sets(core, packs, plan);
        bool cycles = false;
        for (size_t i = 0; i < count; i++) {
                add_cycles(core, &packs[i]);
                cycles |= has(&packs[i], ROLE_CYCLES);
        }
        if (!cycles) {
                packs[count].beside_samples = true;
                add_cycles(core, &packs[count]);
                count += packs[count].count > 0;
        }
        plan->counters_rotate |= count > 1;
        for (size_t i = 0; i < count; i++) {
                plan->samples_rotate |= !packs[i].beside_samples;
                int code = plan_pack(core, &packs[i], plan);
                if (code)
                        return code;
        }
        return 0;
}

/* Samples that take turns with nobody keep their counters whoever else wants them. */
static void pin_samples(struct plan *plan)
{
        for (size_t i = 0; i < plan->group_count; i++) {
                struct plan_group *group = &plan->groups[i];
                if (group->events[0].use != PLAN_COUNTER)
                        group->events[0].attr.pinned =
                            plan->counters_rotate && !plan->samples_rotate;
        }
}

/* ---- memory controllers
 * ---------------------------------------------------------------- */

static void add_imc_event(const struct machine_imc *imc, enum event_role role,
                          const struct pmu_code *code, struct plan_group *group)
{
        bool read = role == ROLE_DRAM_READ;
        /* Uncore PMUs count all modes or none: they refuse to leave any out. */
        struct perf_event_attr attr = attributes_of_counter(imc->type, 0);
        attr.exclude_kernel = attr.exclude_hv = 0;
        set_code(&attr, code);
        struct plan_event *event = add_event(group, PLAN_COUNTER, &attr);
        event->name = read ? "dram.read_bytes" : "dram.write_bytes";
        event->unit = event_role_unit(role);
        event->scale = (uint64_t)((read ? imc->read_bytes : imc->write_bytes) + 0.5);
}

static void add_imc_aliases(const struct machine_imc *imc, struct plan_group *group)
{
        for (size_t part = 0; part < 2; part++) {
                if (imc->reads[part].known)
                        add_imc_event(imc, ROLE_DRAM_READ, &imc->reads[part].code, group);
                if (imc->writes[part].known)
                        add_imc_event(imc, ROLE_DRAM_WRITE, &imc->writes[part].code,
                                      group);
        }
}

static void add_imc_table(const struct machine_imc *imc, const char *platform,
                          struct plan_group *group)
{
        static const enum event_role roles[] = {ROLE_DRAM_READ, ROLE_DRAM_WRITE};
        for (size_t i = 0; i < 2; i++) {
                const struct event *event;
                for (size_t part = 0;
                     (event = event_find(platform, CORE_UNCORE, roles[i], part)); part++)
                        add_imc_event(imc, roles[i], &(struct pmu_code){{event->config}},
                                      group);
        }
}

/* Where the kernel has names for the events of some, the others are copies of them (such
 * as counters that always run) and would be counted twice. */
static bool any_imc_named(const struct machine *machine)
{
        for (size_t i = 0; i < machine->imc_count; i++)
                if (machine->imcs[i].reads[0].known)
                        return true;
        return false;
}

static int plan_imcs(const struct machine *machine, struct plan *plan)
{
        const struct event_platform *platform =
            event_platform_find(machine->family, machine->model, machine->stepping);
        bool named = any_imc_named(machine);
        for (size_t i = 0; i < machine->imc_count; i++) {
                const struct machine_imc *imc = &machine->imcs[i];
                if (!imc->cpu_count || (named && !imc->reads[0].known) ||
                    (!named && (!platform || strstr(imc->name, "free_running"))))
                        continue;
                struct plan_group *group = add_group(plan, imc->cpus, imc->cpu_count);
                if (!group)
                        return -ENOMEM;
                group->system_wide = true;
                if (named)
                        add_imc_aliases(imc, group);
                else
                        add_imc_table(imc, platform->name, group);
                if (!group->count)
                        free(plan->groups[--plan->group_count].cpus);
        }
        return 0;
}

/* ---- all of it
 * ------------------------------------------------------------------------- */

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
        if (options->ldlat_cycles < LDLAT_MIN || options->ldlat_cycles > LDLAT_MAX)
                return diag_set(diag, -EINVAL,
                                "a load latency of %" PRIu32
                                " cycles: Intel CPUs take %d to %d",
                                options->ldlat_cycles, LDLAT_MIN, LDLAT_MAX);
        return 0;
}

int plan_pebs(const struct machine *machine, const struct plan_options *options,
              const struct pebs_limits *limits, struct plan *plan, struct diag *diag)
{
        struct core cores[MACHINE_PMUS_MAX];
        size_t count = 0;
        *plan = (struct plan){.groups = NULL};
        int code = check(machine, options, diag);
        for (size_t i = 0; !code && i < machine->pmu_count; i++) {
                cores[count] = describe_core(machine, &machine->pmus[i], limits);
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
                code = plan_imcs(machine, plan);
        pin_samples(plan);
        return code ? diag_set(diag, code, "no memory") : 0;
}
