/* SPDX-License-Identifier: MIT */
/* One function for each topic: turns facts into at most one finding per core PMU. */
#include "machine_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cpu_preset.h"
#include "plan_pebs.h"

struct list {
        struct finding *findings;
        size_t count;
};

static struct finding *add(struct list *list, const char *topic,
                           enum finding_status status)
{
        struct finding *finding = &list->findings[list->count];
        if (list->count + 1 < FINDINGS_MAX)
                list->count++;
        *finding = (struct finding){.topic = topic, .status = status};
        return finding;
}

#define SAY(finding, ...) snprintf((finding)->text, sizeof((finding)->text), __VA_ARGS__)
#define REMEDY(finding, ...)                                                             \
        snprintf((finding)->remedy, sizeof((finding)->remedy), __VA_ARGS__)

/* Reports a source's problem: fact; remedy. */
static void say_problem(struct finding *finding, const char *problem)
{
        const char *remedy = strstr(problem, "; ");
        SAY(finding, "%.*s", remedy ? (int)(remedy - problem) : (int)strlen(problem),
            problem);
        if (remedy)
                REMEDY(finding, "%s", remedy + 2);
}

static bool has_capability(const struct machine *machine, int capability)
{
        return machine->effective_capabilities >> capability & 1;
}

static bool may_watch_all(const struct machine *machine)
{
        return has_capability(machine, CAP_PERFMON) ||
               has_capability(machine, CAP_SYS_ADMIN);
}

static bool is_intel(const struct machine *machine)
{
        return strcmp(machine->vendor, "GenuineIntel") == 0;
}

static bool is_amd(const struct machine *machine)
{
        return strcmp(machine->vendor, "AuthenticAMD") == 0;
}

static void about_cpu(struct list *list, const struct machine *machine)
{
        struct finding *finding = add(list, "cpu", FINDING_NOTE);
        if (machine->family == MACHINE_UNKNOWN)
                SAY(finding, "/proc/cpuinfo does not tell the CPU's model");
        else
                SAY(finding,
                    "%s (%s, family %" PRId64 " model %" PRId64 " stepping %" PRId64 ")",
                    machine->model_name, machine->vendor, machine->family, machine->model,
                    machine->stepping);
        finding = add(list, "virtual", FINDING_NOTE);
        SAY(finding, "%s",
            machine->hypervisor ? "a virtual machine: it has the counters that its host "
                                  "passes on"
                                : "no virtual machine");
}

static void about_core_pmu(struct list *list, const struct machine *machine)
{
        struct finding *finding;
        for (size_t i = 0; i < machine->pmu_count; i++) {
                finding = add(list, "pmu", FINDING_OK);
                SAY(finding, "core PMU '%s'", machine->pmus[i].name);
        }
        if (machine->pmu_count)
                return;
        finding = add(list, "pmu", FINDING_MISSING);
        SAY(finding, "no core PMU: the CPU's counters cannot be used");
        if (machine->hypervisor)
                REMEDY(finding, "give the guest a PMU (QEMU: -cpu host,pmu=on; VMware: "
                                "virtual CPU performance counters; in a cloud: a bare "
                                "metal instance), or use --source sim");
        else
                REMEDY(finding, "look for 'Performance Events' in the kernel's log "
                                "(dmesg), or use --source sim");
}

/* Reports load latency sampling on one core PMU. */
static void about_pebs_on(struct list *list, const struct machine_pmu *pmu)
{
        bool works = pmu->mem_loads.known && pmu->max_precise > 0 && pmu->ldlat.known;
        struct finding *finding = add(list, "pebs", works ? FINDING_OK : FINDING_MISSING);
        if (works)
                SAY(finding, "'%s' samples loads by latency (ldlat)%s", pmu->name,
                    pmu->mem_stores.known ? ", and stores" : "");
        else if (pmu->max_precise == 0)
                SAY(finding, "'%s' has no precise events (max_precise is 0)", pmu->name);
        else
                SAY(finding, "'%s' has no %s", pmu->name,
                    pmu->mem_loads.known ? "latency threshold (ldlat)"
                                         : "event mem-loads");
        if (!works)
                REMEDY(finding, "on a virtual machine ask for a host that passes on PEBS "
                                "(Ice Lake or later); else update the kernel");
        if (works && pmu->mem_loads_aux.known) {
                finding = add(list, "aux", FINDING_NOTE);
                SAY(finding, "on '%s' mem-loads must follow mem-loads-aux in its group",
                    pmu->name);
        }
}

static void about_pebs(struct list *list, const struct machine *machine,
                       const char *problem)
{
        if (!is_intel(machine)) {
                SAY(add(list, "pebs", FINDING_NOTE), "only Intel CPUs have it");
                return;
        }
        if (machine->pmu_count == 0)
                SAY(add(list, "pebs", FINDING_MISSING), "needs the core PMU");
        else if (problem)
                say_problem(add(list, "pebs", FINDING_MISSING), problem);
        for (size_t i = 0; !problem && i < machine->pmu_count; i++)
                about_pebs_on(list, &machine->pmus[i]);
}

/* The counters that PLAN has beside the samples. */
static void say_counters(struct finding *finding, const struct plan *plan)
{
        size_t groups = 0;
        bool lmrl = false;
        for (size_t i = 0; i < plan->group_count; i++) {
                const struct plan_group *group = &plan->groups[i];
                groups += group->events[0].use == PLAN_COUNTER && !group->system_wide;
                for (size_t j = 0; j < group->count; j++)
                        lmrl |=
                            group->events[j].name &&
                            strcmp(group->events[j].name, "l1d_pend_miss.pending") == 0;
        }
        if (!lmrl)
                finding->status = FINDING_MISSING;
        SAY(finding, "%s beside the samples, in %zu group%s%s",
            lmrl
                ? "LMRL and stalls are counted"
                : "cycles and instructions are counted, and no LMRL: memlag's table does "
                  "not know this CPU, or it has too few counters;",
            groups, groups == 1 ? "" : "s",
            plan->counters_rotate ? " that take turns: counts are estimates" : "");
}

/* Reports the counters on Intel's CPUs; other CPUs count cycles and instructions. */
static void about_counters(struct list *list, const struct machine *machine)
{
        static const struct plan_options options = {
            .period = 1, .ldlat_cycles = 30, .counters = true};
        static const struct pebs_limits limits = {.precise_ip = 3, .weight_struct = true};
        struct plan plan;
        if (is_intel(machine) &&
            plan_pebs(machine, &options, &limits, &plan, NULL) == 0) {
                say_counters(add(list, "counters", FINDING_OK), &plan);
                plan_free(&plan);
        }
        if (machine->pmu_count && machine->nmi_watchdog) {
                struct finding *finding = add(list, "watchdog", FINDING_NOTE);
                SAY(finding, "the NMI watchdog keeps one of each CPU's counters");
                REMEDY(finding, "sysctl kernel.nmi_watchdog=0 frees it");
        }
}

static void about_ibs(struct list *list, const struct machine *machine,
                      const char *problem)
{
        if (!is_amd(machine)) {
                SAY(add(list, "ibs", FINDING_NOTE), "only AMD CPUs have it");
                return;
        }
        bool works = machine->ibs_op && !problem;
        struct finding *finding = add(list, "ibs", works ? FINDING_OK : FINDING_MISSING);
        if (works) {
                SAY(finding, "PMU 'ibs_op' samples operations%s",
                    machine->ibs.ldlat.known ? ", loads by latency (ldlat)" : "");
        } else if (machine->ibs_op) {
                say_problem(finding, problem);
        } else if (machine->ibs_flag) {
                SAY(finding, "the CPU has IBS, but the kernel has no PMU 'ibs_op'");
                REMEDY(finding, "look for 'IBS' in the kernel's log (dmesg); it needs "
                                "CONFIG_CPU_SUP_AMD");
        } else {
                SAY(finding, "this CPU shows no IBS");
                REMEDY(finding, machine->hypervisor
                                    ? "use the host or a bare metal instance, or "
                                      "--source sim"
                                    : "enable IBS in the firmware, or use --source sim");
        }
}

static void about_imc(struct list *list, const struct machine *machine)
{
        bool allowed =
            may_watch_all(machine) || (machine->perf_event_paranoid <= 0 &&
                                       machine->perf_event_paranoid != MACHINE_UNKNOWN);
        bool works = machine->imc_count && allowed;
        struct finding *finding = add(list, "imc", works ? FINDING_OK : FINDING_MISSING);
        if (!machine->imc_count) {
                SAY(finding, "no counters of the memory controllers (uncore_imc)");
                REMEDY(finding, "%s",
                       machine->hypervisor
                           ? "hosts do not pass them on: use bare metal"
                           : "load the kernel module intel_uncore (Intel only)");
        } else if (!allowed) {
                SAY(finding, "%zu memory controller PMUs, but no right to use them",
                    machine->imc_count);
                REMEDY(finding, "sysctl kernel.perf_event_paranoid=0, or CAP_PERFMON");
        } else {
                SAY(finding, "%zu memory controller PMUs", machine->imc_count);
        }
}

static void about_paranoid(struct list *list, const struct machine *machine)
{
        int64_t level = machine->perf_event_paranoid;
        struct finding *finding = add(list, "paranoid", FINDING_OK);
        if (level == MACHINE_UNKNOWN) {
                finding->status = FINDING_MISSING;
                SAY(finding, "the kernel has no perf events (no perf_event_paranoid)");
                REMEDY(finding, "use a kernel with CONFIG_PERF_EVENTS");
        } else if (may_watch_all(machine)) {
                SAY(finding,
                    "kernel.perf_event_paranoid is %" PRId64
                    ", but does not limit CAP_PERFMON and root",
                    level);
        } else if (level > 2) {
                finding->status = FINDING_MISSING;
                SAY(finding,
                    "kernel.perf_event_paranoid is %" PRId64
                    ": perf events are for root only",
                    level);
                REMEDY(finding, "sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON");
        } else {
                SAY(finding,
                    "kernel.perf_event_paranoid is %" PRId64
                    ": own programs can be watched%s",
                    level, level <= 0 ? ", and whole CPUs" : "");
        }
        finding =
            add(list, "perfmon", may_watch_all(machine) ? FINDING_OK : FINDING_NOTE);
        SAY(finding, may_watch_all(machine) ? "this process has CAP_PERFMON or is root"
                                            : "this process has no CAP_PERFMON");
        if (!may_watch_all(machine))
                REMEDY(finding, "only for other users' programs and whole CPUs: setcap "
                                "cap_perfmon+ep on the program memlag, or run as root");
}

static void about_perf_event(struct list *list, const struct machine *machine, int error)
{
        struct finding *finding =
            add(list, "perf-event", error ? FINDING_MISSING : FINDING_OK);
        if (!error) {
                SAY(finding, "perf_event_open works (tried with a timer)");
                return;
        }
        SAY(finding, "perf_event_open fails: %s", strerror(error));
        if (error == ENOSYS)
                REMEDY(finding, "use a kernel with CONFIG_PERF_EVENTS");
        else if (machine->container || machine->seccomp_filter)
                REMEDY(finding, "the container forbids it: start it with --cap-add "
                                "PERFMON, or with a seccomp profile that allows "
                                "perf_event_open");
        else
                REMEDY(finding, "sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON");
}

static void about_memory(struct list *list, const struct machine *machine,
                         uint64_t memlock_bytes)
{
        if (machine->perf_event_mlock_kb == MACHINE_UNKNOWN)
                return;
        struct finding *finding = add(list, "mlock", FINDING_NOTE);
        if (has_capability(machine, CAP_IPC_LOCK)) {
                SAY(finding, "CAP_IPC_LOCK: rings may be of any size");
                return;
        }
        char limit[32] = "unlimited";
        if (memlock_bytes != RLIM_INFINITY)
                snprintf(limit, sizeof(limit), "%" PRIu64 " KiB", memlock_bytes / 1024);
        SAY(finding,
            "rings may take %" PRId64 " KiB a CPU (kernel.perf_event_mlock_kb), and "
            "beyond that %s of locked memory (ulimit -l)",
            machine->perf_event_mlock_kb, limit);
        REMEDY(finding, "when records are lost: sysctl kernel.perf_event_mlock_kb=4096");
}

static void about_kernel_addresses(struct list *list, const struct machine *machine)
{
        if (machine->kptr_restrict == MACHINE_UNKNOWN)
                return;
        struct finding *finding = add(list, "kptr", FINDING_NOTE);
        SAY(finding,
            "kernel.kptr_restrict is %" PRId64 "; memlag samples user code only and "
            "needs no kernel addresses",
            machine->kptr_restrict);
}

static void about_container(struct list *list, const struct machine *machine)
{
        struct finding *finding = add(list, "container", FINDING_NOTE);
        SAY(finding, "%s%s", machine->container ? "in a container" : "no container seen",
            machine->seccomp_filter ? "; system calls are filtered (seccomp)" : "");
}

static void about_debug_info(struct list *list, const struct machine *machine,
                             const char *urls)
{
        struct finding *finding = add(list, "debuginfo", FINDING_NOTE);
        SAY(finding, "%s",
            machine->debug_files ? "separate debug files are installed in /usr/lib/debug"
                                 : "no separate debug files in /usr/lib/debug");
        REMEDY(finding, "for source lines build with -g, or install the -dbgsym packages "
                        "of the program");
        finding = add(list, "debuginfod", FINDING_NOTE);
        if (urls && *urls) {
                SAY(finding, "servers are set in DEBUGINFOD_URLS");
                REMEDY(finding, "memlag symbolize --debuginfod asks them");
        } else {
                SAY(finding, "no servers in DEBUGINFOD_URLS");
                REMEDY(finding, "on Debian: export "
                                "DEBUGINFOD_URLS=https://debuginfod.debian.net, then "
                                "memlag symbolize --debuginfod");
        }
}

static void about_clock(struct list *list, int error)
{
        struct finding *finding =
            add(list, "clock", error ? FINDING_MISSING : FINDING_OK);
        SAY(finding, error ? "timer samples need perf events"
                           : "timer samples (--source clock) tell where time is spent, "
                             "without latencies");
}

static void about_sim(struct list *list, const struct machine *machine,
                      const char *problem)
{
        struct finding *finding =
            add(list, "sim", problem ? FINDING_MISSING : FINDING_OK);
        if (problem) {
                say_problem(finding, problem);
                if (!finding->remedy[0])
                        REMEDY(finding, "install memlag again, with its directory "
                                        "libexec/memlag");
        } else {
                const char *unlike;
                const char *preset =
                    cpu_preset(machine->vendor, machine->family, machine->model, &unlike);
                SAY(finding,
                    "the simulated PMU and its Valgrind tool are there; its numbers are "
                    "modelled. Without a calibration ('memlag calibrate') it simulates "
                    "preset %s, %s, with this machine's caches",
                    preset, unlike ? unlike : "this CPU's microarchitecture");
        }
}

size_t machine_findings(const struct machine *machine, const struct machine_trial *trial,
                        struct finding findings[FINDINGS_MAX])
{
        struct list list = {.findings = findings};
        about_cpu(&list, machine);
        about_core_pmu(&list, machine);
        about_pebs(&list, machine, trial->pebs_problem);
        about_counters(&list, machine);
        about_ibs(&list, machine, trial->ibs_problem);
        about_imc(&list, machine);
        about_perf_event(&list, machine, trial->perf_event_error);
        about_paranoid(&list, machine);
        about_memory(&list, machine, trial->memlock_bytes);
        about_kernel_addresses(&list, machine);
        about_container(&list, machine);
        about_debug_info(&list, machine, trial->debuginfod_urls);
        about_clock(&list, trial->perf_event_error);
        about_sim(&list, machine, trial->sim_problem);
        return list.count;
}
