/* SPDX-License-Identifier: MIT */
/* Tries plans. The events never count: they are closed as they were opened. */
#include "plan_try.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS_MAX = 2 * PLAN_GROUP_EVENTS_MAX, COUNTERS_MAX = 8 };

static int open_disabled(const struct plan_event *event, pid_t pid, int cpu, int leader)
{
        struct perf_event_attr attr = event->attr;
        attr.disabled = leader < 0;
        attr.pinned = 0;
        long fd =
            syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
        return fd < 0 ? -errno : (int)fd;
}

/* Opens GROUP with the events of BESIDE (or NULL) as further members: the kernel refuses
 * impossible combinations with EINVAL. Opens on this thread, or on one of the group's
 * CPUs. */
static int try_group(const struct plan_group *group, const struct plan_group *beside,
                     bool whole_cpu)
{
        int fds[EVENTS_MAX];
        size_t opened = 0, wanted = group->count + (beside ? beside->count : 0);
        pid_t pid = whole_cpu ? -1 : 0;
        int cpu = !whole_cpu ? -1 : group->cpu_count ? group->cpus[0] : sched_getcpu();
        int code = 0;
        while (opened < wanted) {
                const struct plan_event *event =
                    opened < group->count ? &group->events[opened]
                                          : &beside->events[opened - group->count];
                fds[opened] = open_disabled(event, pid, cpu, opened ? fds[0] : -1);
                if (fds[opened] < 0) {
                        code = fds[opened];
                        break;
                }
                opened++;
        }
        while (opened)
                close(fds[--opened]);
        return code;
}

static bool samples(const struct plan_group *group)
{
        return group->events[0].use != PLAN_COUNTER;
}

/* ---- reasons ---- */

/* Builds the reason and the remedy for ERROR from opening EVENT, and returns ERROR. */
static int explain(int error, const struct machine *machine,
                   const struct plan_options *options, const char *event,
                   struct diag *diag)
{
        switch (error) {
        case -EACCES:
        case -EPERM:
                if (machine->perf_event_paranoid > 2)
                        return diag_set(diag, error,
                                        "kernel.perf_event_paranoid is %" PRId64
                                        ": %s is for root only; sysctl "
                                        "kernel.perf_event_paranoid=2, or CAP_PERFMON",
                                        machine->perf_event_paranoid, event);
                if (options->whole_cpus)
                        return diag_set(diag, error,
                                        "recording whole CPUs needs CAP_PERFMON or "
                                        "kernel.perf_event_paranoid of 0 or less");
                return diag_set(diag, error,
                                "the kernel forbids %s%s; memlag doctor tells what "
                                "permits it",
                                event,
                                machine->container || machine->seccomp_filter
                                    ? " (in this container)"
                                    : "");
        case -ENODATA:
                return diag_set(diag, error,
                                "the kernel wants an event mem-loads-aux before %s and "
                                "has no name for it; use a newer kernel, or --source sim",
                                event);
        case -EBUSY:
                return diag_set(
                    diag, error,
                    "another program has taken the PMU that %s needs; end it, "
                    "or use --source sim",
                    event);
        case -ENOENT:
        case -ENODEV:
        case -EINVAL:
        case -EOPNOTSUPP:
                return diag_set(diag, error,
                                "the kernel has no precise form of %s on this machine "
                                "(%s), and imprecise samples have no address; memlag "
                                "doctor tells more, --source sim needs no PMU",
                                event, strerror(-error));
        default:
                return diag_set(diag, error, "cannot open %s: %s", event,
                                strerror(-error));
        }
}

/* ---- samples ---- */

static int try_samples(const struct plan *plan, bool whole_cpus)
{
        int code = 0;
        for (size_t i = 0; !code && i < plan->group_count; i++)
                if (samples(&plan->groups[i]))
                        code = try_group(&plan->groups[i], NULL, whole_cpus);
        return code;
}

/* Returns true if the kernel understood the attributes and lacks the requested
 * feature. */
static bool is_refusal_of_form(int error)
{
        return error == -EINVAL || error == -EOPNOTSUPP || error == -ENOENT;
}

/* Why the samples cannot be had. */
static int explain_samples(int error, const struct machine *machine,
                           const struct plan_options *options, struct diag *diag)
{
        if ((error == -EACCES || error == -EPERM) && options->phys_addr)
                return diag_set(diag, error,
                                "physical addresses need CAP_PERFMON or "
                                "kernel.perf_event_paranoid of 1 or less");
        return explain(error, machine, options, "the load latency event", diag);
}

/* Finds the highest accepted precision, with the three-part weight if possible. Never
 * imprecise. */
static int settle_samples(const struct machine *machine,
                          const struct plan_options *options, struct pebs_limits *limits,
                          struct diag *diag)
{
        struct plan_options of_samples = *options;
        of_samples.counters = false;
        int error = 0;
        for (int precise_ip = 3; precise_ip >= 1; precise_ip--)
                for (int weight_struct = 1; weight_struct >= 0; weight_struct--) {
                        struct plan plan;
                        *limits = (struct pebs_limits){.precise_ip = precise_ip,
                                                       .weight_struct = weight_struct};
                        error = plan_pebs(machine, &of_samples, limits, &plan, diag);
                        if (error) {
                                plan_free(&plan);
                                return error;
                        }
                        error = try_samples(&plan, options->whole_cpus);
                        plan_free(&plan);
                        if (!is_refusal_of_form(error))
                                return error ? explain_samples(error, machine, options,
                                                               diag)
                                             : 0;
                }
        return explain_samples(error, machine, options, diag);
}

/* ---- counters ---- */

/* The samples of the PMU that GROUP counts on. */
static const struct plan_group *samples_on(const struct plan *plan,
                                           const struct plan_group *group)
{
        for (size_t i = 0; i < plan->group_count; i++)
                if (samples(&plan->groups[i]) &&
                    plan->groups[i].events[0].attr.type == group->events[0].attr.type)
                        return &plan->groups[i];
        return NULL;
}

static int try_counters(const struct plan *plan, bool whole_cpus)
{
        int code = 0;
        for (size_t i = 0; !code && i < plan->group_count; i++) {
                const struct plan_group *group = &plan->groups[i];
                const struct plan_group *beside = samples_on(plan, group);
                if (samples(group) || group->system_wide)
                        continue;
                if (beside && !plan->samples_rotate)
                        code = try_group(beside, group, whole_cpus);
                else
                        code = try_group(group, NULL, whole_cpus);
        }
        return code;
}

/* Finds how many counters the kernel grants the groups. The CPU may have fewer counters
 * than in the table, or a hypervisor may reserve some. */
static int settle_counters(const struct machine *machine,
                           const struct plan_options *options, struct pebs_limits *limits,
                           struct plan *plan, struct diag *diag)
{
        int error = plan_pebs(machine, options, limits, plan, diag);
        if (error || !options->counters)
                return error;
        error = try_counters(plan, options->whole_cpus);
        for (unsigned counters = COUNTERS_MAX; error && counters >= 1; counters--) {
                plan_free(plan);
                limits->counters = counters;
                error = plan_pebs(machine, options, limits, plan, diag);
                if (error)
                        return error;
                error = try_counters(plan, options->whole_cpus);
                if (error && !is_refusal_of_form(error))
                        break;
        }
        return error ? explain(error, machine, options, "the counters", diag) : 0;
}

/* Replaces PLAN, of loads alone, by one of stores too, if LMRL loses nothing by that. */
static void add_free_stores(const struct machine *machine,
                            const struct plan_options *options,
                            const struct pebs_limits *limits, struct plan *plan)
{
        struct plan_options of_both = *options;
        struct plan with;
        struct diag ignored;
        of_both.stores = true;
        bool free = plan_pebs(machine, &of_both, limits, &with, &ignored) == 0 &&
                    plan_pebs_stores_are_free(&with, plan) &&
                    try_samples(&with, options->whole_cpus) == 0 &&
                    try_counters(&with, options->whole_cpus) == 0;
        if (free) {
                struct plan loads = *plan;
                *plan = with;
                with = loads;
        }
        plan_free(&with);
}

int plan_try_pebs(const struct machine *machine, const struct plan_options *options,
                  struct plan *plan, struct diag *diag)
{
        struct pebs_limits limits;
        *plan = (struct plan){.groups = NULL};
        int code = settle_samples(machine, options, &limits, diag);
        if (!code)
                code = settle_counters(machine, options, &limits, plan, diag);
        if (!code && options->stores_if_free && !options->stores)
                add_free_stores(machine, options, &limits, plan);
        return code;
}

/* ---- IBS ---- */

/* Kernels before Linux 6.4 have IBS of whole CPUs only. */
static bool wants_whole_cpus(const struct plan *plan)
{
        int error = try_samples(plan, true);
        return error == 0 || error == -EACCES;
}

int plan_try_ibs(const struct machine *machine, const struct plan_options *options,
                 struct plan *plan, struct diag *diag)
{
        int error = -EINVAL;
        bool whole_cpus_only = false;
        for (int weight_struct = 1; weight_struct >= 0; weight_struct--) {
                error = plan_ibs(machine, options, weight_struct, plan, diag);
                if (error)
                        return error;
                error = try_samples(plan, options->whole_cpus);
                if (!is_refusal_of_form(error))
                        break;
                whole_cpus_only |= !options->whole_cpus && wants_whole_cpus(plan);
                plan_free(plan);
        }
        if (whole_cpus_only && error)
                return diag_set(diag, error,
                                "this kernel knows IBS of whole CPUs only, as those "
                                "before Linux 6.4; record with -a or -C, which needs "
                                "CAP_PERFMON or kernel.perf_event_paranoid of 0 or less, "
                                "or use --source sim");
        if (error == -EACCES && !options->whole_cpus && !machine->ibs.swfilt.known)
                return diag_set(diag, error,
                                "this kernel cannot leave itself out of IBS samples, and "
                                "kernel.perf_event_paranoid is %" PRId64
                                "; sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON",
                                machine->perf_event_paranoid);
        return error ? explain(error, machine, options, "IBS", diag) : 0;
}
