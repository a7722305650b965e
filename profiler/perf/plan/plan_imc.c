/* SPDX-License-Identifier: MIT */
/* Finds the events of memory controllers: by the kernel's names, or in the table. */
#include "plan_imc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "event_table.h"

static void add_imc_event(const struct machine_imc *imc, enum event_role role,
                          const struct pmu_code *code, struct plan_group *group)
{
        bool read = role == ROLE_DRAM_READ;
        /* Uncore PMUs count all CPU modes: they refuse to exclude any. */
        struct perf_event_attr attr = attributes_of_counter(imc->type, 0);
        attr.exclude_kernel = attr.exclude_hv = 0;
        attributes_set_code(&attr, code);
        struct plan_event *event = plan_add_event(group, PLAN_COUNTER, &attr);
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

/* If the kernel names the events of some controllers, the others are copies (such as
 * free-running counters) and would be counted twice. */
static bool any_imc_named(const struct machine *machine)
{
        for (size_t i = 0; i < machine->imc_count; i++)
                if (machine->imcs[i].reads[0].known)
                        return true;
        return false;
}

int plan_imc(const struct machine *machine, struct plan *plan)
{
        const struct event_platform *platform =
            event_platform_find(machine->family, machine->model, machine->stepping);
        bool named = any_imc_named(machine);
        for (size_t i = 0; i < machine->imc_count; i++) {
                const struct machine_imc *imc = &machine->imcs[i];
                if (!imc->cpu_count || (named && !imc->reads[0].known) ||
                    (!named && (!platform || strstr(imc->name, "free_running"))))
                        continue;
                struct plan_group *group =
                    plan_add_group_on(plan, imc->cpus, imc->cpu_count);
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
