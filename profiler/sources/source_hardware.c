/* SPDX-License-Identifier: MIT */
/* Translates options, has the plan made, and describes the plan in the database's
 * terms. */
#include "source_hardware.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "perf/facts/pfm.h"
#include "perf/records/retire_latency.h"
#include "source_perf.h"

enum { STACK_BYTES = 8192 }; /* of each sample, for unwinding */

static struct plan_options wishes_of(const struct source_options *options)
{
        struct plan_options wishes = {
            .period = options->frequency_hz ? 0 : options->period_loads,
            .store_period = options->frequency_hz ? 0 : options->period_stores,
            .frequency_hz = options->frequency_hz,
            .ldlat_cycles = options->ldlat_cycles,
            .stores = options->stores,
            .stores_if_free = !options->loads_only && !options->frequency_hz,
            .stack_bytes = STACK_BYTES,
            .phys_addr = options->phys_addr,
            .data_page_size = options->page_size,
            .counters = true,
            .validated = options->validated,
            .whole_cpus = options->system_wide || options->cpus,
        };
        /* Any stack costs an interrupt for each sample: only on request. */
        if (options->call_graph == CALL_GRAPH_FRAME_POINTERS)
                wishes.stack = PLAN_STACK_FRAME_POINTERS;
        else if (options->call_graph == CALL_GRAPH_DWARF)
                wishes.stack = PLAN_STACK_COPY;
        return wishes;
}

static size_t counter_groups(const struct plan *plan)
{
        size_t groups = 0;
        for (size_t i = 0; i < plan->group_count; i++)
                groups += plan->groups[i].events[0].use == PLAN_COUNTER &&
                          !plan->groups[i].system_wide;
        return groups;
}

static int tell_counters(struct sink *sink, const struct plan *plan, struct diag *diag)
{
        int code = sink_loss(sink, "counters without a place on the CPU",
                             plan->left_out_count, "counters", diag);
        if (code)
                return code;
        return sink_machine(
            sink, "counter_groups", (double)counter_groups(plan), "groups",
            plan->samples_rotate
                ? "they and the samples take turns on the CPU: counts are "
                  "estimates, and fewer loads are sampled"
            : plan->counters_rotate ? "they take turns on the CPU: counts are estimates"
                                    : "all are on the CPU all the time",
            diag);
}

/* Reports counters that replace others because of validation. */
static int tell_substitutes(struct sink *sink, const struct plan *plan, struct diag *diag)
{
        int rc = 0;
        for (size_t g = 0; rc == 0 && g < plan->group_count; g++)
                for (size_t e = 0; rc == 0 && e < plan->groups[g].count; e++) {
                        const struct plan_event *event = &plan->groups[g].events[e];
                        if (event->stands_for)
                                rc = sink_substitute(sink, event->name, event->unit,
                                                     event->stands_for, diag);
                }
        return rc;
}

static int tell_precision(struct sink *sink, const struct plan *plan, struct diag *diag)
{
        for (size_t i = 0; i < plan->group_count; i++) {
                const struct plan_group *group = &plan->groups[i];
                const struct plan_event *last = &group->events[group->count - 1];
                if (last->use == PLAN_LOADS && last->attr.precise_ip)
                        return sink_machine(sink, "precise_ip", last->attr.precise_ip,
                                            "level", "the highest that the PMU accepts",
                                            diag);
        }
        return 0;
}

static void note_costs(const struct plan *plan)
{
        for (size_t i = 0; i < plan->group_count; i++) {
                const struct plan_group *group = &plan->groups[i];
                const struct perf_event_attr *attr =
                    &group->events[group->count - 1].attr;
                const char *obstacle =
                    attr->precise_ip ? plan_large_pebs_obstacle(attr) : NULL;
                if (!obstacle)
                        continue;
                diag_printf("record",
                            "each sample interrupts the program, since %s; without that "
                            "the CPU collects many (large PEBS)",
                            obstacle);
                return;
        }
}

static int tell(struct sink *sink, const struct machine *machine, const struct plan *plan,
                struct diag *diag)
{
        note_costs(plan);
        int code = tell_counters(sink, plan, diag);
        if (!code)
                code = tell_substitutes(sink, plan, diag);
        if (!code)
                code = tell_precision(sink, plan, diag);
        if (!code && machine->base_mhz > 0)
                code = sink_machine(sink, "clock_mhz", machine->base_mhz, "MHz",
                                    "the CPU's base frequency", diag);
        return code;
}

/* Detects this machine, and makes a plan that it accepts. Call plan_free and
 * machine_free in any case. */
static int make_plan(source_hardware_plan *make, const struct source_options *options,
                     struct machine *machine, struct plan *plan, struct diag *diag)
{
        struct plan_options wishes = wishes_of(options);
        machine_read("", machine);
        machine_ask_cpu(machine);
        machine_ask_pfm(machine);
        return make(machine, &wishes, plan, diag);
}

int source_hardware_probe(source_hardware_plan *make,
                          const struct source_options *options, struct diag *diag)
{
        struct machine machine;
        struct plan plan;
        int code = make_plan(make, options, &machine, &plan, diag);
        plan_free(&plan);
        machine_free(&machine);
        return code;
}

static bool has_retire_latency(const struct machine *machine)
{
        struct utsname kernel;
        return strcmp(machine->vendor, "GenuineIntel") == 0 && uname(&kernel) == 0 &&
               retire_latency_known(machine->family, machine->model, kernel.release);
}

int source_hardware_open(source_hardware_plan *make, const struct source_options *options,
                         struct sink *sink, struct source **source, struct diag *diag)
{
        struct source_perf_setup setup = {.amend = NULL};
        struct machine machine;
        int code = make_plan(make, options, &machine, &setup.plan, diag);
        if (!code)
                code = tell(sink, &machine, &setup.plan, diag);
        setup.has_retire_latency = has_retire_latency(&machine);
        machine_free(&machine);
        if (code)
                plan_free(&setup.plan);
        return code ? code : source_perf_open(options, sink, &setup, source, diag);
}
