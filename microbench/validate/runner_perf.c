/* SPDX-License-Identifier: MIT */
/* Runs trials on this machine and counts PMU events. Each event is counted alone beside
 * the cycles: no multiplexing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "amd_events.h"
#include "attributes.h"
#include "conditions.h"
#include "estimate.h"
#include "intel_core.h"
#include "measure.h"
#include "pfm.h"
#include "plan.h"
#include "plan_imc.h"
#include "reported.h"
#include "runner.h"

enum { ROUNDS = 5, COUNTERS_MAX = 64 };

/* Candidate i has the same name as its counters in plan.groups: one group with the
 * cycles, or one per memory controller. */
struct perf_runner {
        struct runner runner;
        struct plan plan;
        uint32_t pmu_type;
        uint64_t cycles; /* config of the cycles event */
        char **names;    /* names from libpfm4; NULL: not requested */
};

static bool is_cycles(const struct plan_group *group, size_t event)
{
        return event == 0 && !group->system_wide;
}

/* ---- counters ---- */

struct open_counter {
        int fd;
        double scale; /* of a count, to lines or events */
        bool cycles;
};

struct open_counters {
        struct open_counter counters[COUNTERS_MAX];
        size_t count;
};

static void close_counters(struct open_counters *open)
{
        for (size_t i = 0; i < open->count; i++)
                close(open->counters[i].fd);
        open->count = 0;
}

static int open_event(const struct plan_event *event, bool cycles, pid_t pid, int cpu,
                      int leader, struct open_counters *open)
{
        struct perf_event_attr attr = event->attr;
        attr.disabled = leader < 0;
        attr.read_format =
            PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        if (open->count == COUNTERS_MAX)
                return -E2BIG;
        long fd =
            syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
                return -errno;
        bool bytes = event->unit && strcmp(event->unit, "bytes") == 0;
        open->counters[open->count++] = (struct open_counter){
            .fd = (int)fd,
            .scale = (double)(event->scale ? event->scale : 1) /
                     (bytes ? KERNEL_LINE_BYTES : 1),
            .cycles = cycles,
        };
        return 0;
}

static bool counts(const struct plan_group *group, size_t event, const char *name)
{
        return is_cycles(group, event) || strcmp(group->events[event].name, name) == 0;
}

static int open_group(const struct plan_group *group, const char *name, pid_t pid,
                      int cpu, struct open_counters *open)
{
        int leader = -1, rc = 0;
        for (size_t e = 0; rc == 0 && e < group->count; e++) {
                if (!counts(group, e, name))
                        continue;
                rc = open_event(&group->events[e], is_cycles(group, e), pid, cpu, leader,
                                open);
                if (rc == 0 && leader < 0)
                        leader = open->counters[open->count - 1].fd;
        }
        return rc;
}

static bool has_event(const struct plan_group *group, const char *name)
{
        for (size_t e = !group->system_wide; e < group->count; e++)
                if (strcmp(group->events[e].name, name) == 0)
                        return true;
        return false;
}

/* Opens all counters of the candidate NAME, without starting them. */
static int open_counters(const struct plan *plan, const char *name,
                         struct open_counters *open)
{
        int rc = 0;
        open->count = 0;
        for (size_t g = 0; rc == 0 && g < plan->group_count; g++) {
                const struct plan_group *group = &plan->groups[g];
                if (!has_event(group, name))
                        continue;
                if (!group->system_wide)
                        rc = open_group(group, name, 0, -1, open);
                for (size_t c = 0; rc == 0 && group->system_wide && c < group->cpu_count;
                     c++)
                        rc = open_group(group, name, -1, group->cpus[c], open);
        }
        if (rc < 0)
                close_counters(open);
        return rc;
}

static void switch_counters(const struct open_counters *open, unsigned long request)
{
        for (size_t i = 0; i < open->count; i++)
                ioctl(open->counters[i].fd, request, 0);
}

/* Reads the counters; false if one was multiplexed. */
static bool read_counters(const struct open_counters *open, double *value, double *cycles)
{
        struct {
                uint64_t value, enabled, running;
        } reading;
        *value = 0;
        *cycles = NAN;
        for (size_t i = 0; i < open->count; i++) {
                const struct open_counter *counter = &open->counters[i];
                if (read(counter->fd, &reading, sizeof(reading)) != sizeof(reading) ||
                    reading.running < reading.enabled)
                        return false;
                if (counter->cycles)
                        *cycles = (double)reading.value;
                else
                        *value += (double)reading.value * counter->scale;
        }
        return true;
}

/* ---- a trial ---- */

/* Runs one candidate's rounds; CYCLES gets the cycles of each. */
static void count_rounds(const struct open_counters *open, const struct trial *trial,
                         struct kernel_share *share, struct gained *gained,
                         double *cycles, size_t *cycle_count)
{
        uint64_t passes = trial_passes(trial);
        for (size_t r = 0; r < ROUNDS; r++) {
                double value, round_cycles;
                switch_counters(open, PERF_EVENT_IOC_RESET);
                switch_counters(open, PERF_EVENT_IOC_ENABLE);
                trial->kernel->run(share, passes);
                switch_counters(open, PERF_EVENT_IOC_DISABLE);
                if (!read_counters(open, &value, &round_cycles))
                        continue;
                gained->rounds[gained->count++] = value / (double)passes;
                if (!isnan(round_cycles))
                        cycles[(*cycle_count)++] = round_cycles / (double)passes;
        }
}

static int run_prepared(struct perf_runner *perf, const struct trial *trial,
                        struct kernel_share *share, struct gained *gained, double *cycles,
                        struct diag *diag)
{
        const struct runner *runner = &perf->runner;
        double *all = calloc(runner->count * ROUNDS, sizeof(*all));
        size_t cycle_count = 0;
        if (!all)
                return diag_no_memory(diag);
        trial->kernel->run(share, 1);
        for (size_t i = 0; i < runner->count; i++) {
                struct open_counters open;
                gained[i].count = 0;
                if (!runner->candidates[i].wanted ||
                    open_counters(&perf->plan, runner->candidates[i].name, &open) < 0)
                        continue;
                count_rounds(&open, trial, share, &gained[i], all, &cycle_count);
                close_counters(&open);
        }
        estimate_sort(all, cycle_count);
        *cycles = cycle_count ? all[cycle_count / 2] : NAN;
        free(all);
        return 0;
}

static int run(struct runner *runner, const struct trial *trial, struct gained *gained,
               double *cycles, struct diag *diag)
{
        struct kernel_share share = {.parameters = &trial->parameters};
        int rc = trial->kernel->check(&trial->parameters, diag);
        if (rc == 0)
                rc = trial->kernel->prepare(&share, diag);
        if (rc == 0)
                rc = run_prepared((struct perf_runner *)runner, trial, &share, gained,
                                  cycles, diag);
        buffer_unmap(&share.buffer);
        return rc;
}

static void close_perf(struct runner *runner)
{
        struct perf_runner *perf = (struct perf_runner *)runner;
        plan_free(&perf->plan);
        runner_free_candidates(runner);
        for (char **name = perf->names; name && *name; name++)
                free(*name);
        free(perf->names);
        free(perf);
}

/* ---- the events ---- */

static int add_event(struct perf_runner *perf, const char *name, uint64_t config,
                     bool recorded, struct diag *diag)
{
        struct plan_group *group = plan_add_group(&perf->plan);
        if (!group)
                return diag_no_memory(diag);
        struct perf_event_attr attr = attributes_of_counter(perf->pmu_type, perf->cycles);
        plan_add_event(group, PLAN_COUNTER, &attr)->name = "cycles";
        attr = attributes_of_counter(perf->pmu_type, config);
        int rc = runner_add_candidate(&perf->runner, name, recorded, diag);
        plan_add_event(group, PLAN_COUNTER, &attr)->name = name;
        return rc;
}

static int add_intel_events(struct perf_runner *perf, const struct intel_core *core,
                            struct diag *diag)
{
        static const enum event_role roles[] = {
            ROLE_INSTRUCTIONS, ROLE_ALL_LOADS,   ROLE_PENDING,   ROLE_L1_MISS,
            ROLE_FB_HIT,       ROLE_L1_MISS_ANY, ROLE_FB_FULL,   ROLE_SQ_FULL,
            ROLE_STALLS,       ROLE_STALLS_L1D,  ROLE_STALLS_L2, ROLE_STALLS_L3,
            ROLE_STORE_BUFFER, ROLE_CANDIDATE,
        };
        int rc = 0;
        for (size_t i = 0; core->platform && i < sizeof(roles) / sizeof(roles[0]); i++)
                for (size_t k = 0; rc == 0; k++) {
                        const struct event *event =
                            event_find(core->platform, core->kind, roles[i], k);
                        if (!event)
                                break;
                        rc = add_event(perf, event->name, event->config,
                                       k == 0 && roles[i] != ROLE_CANDIDATE, diag);
                }
        return rc;
}

/* `memlag record` only uses cycles and instructions here. */
static int add_amd_events(struct perf_runner *perf, int64_t family, struct diag *diag)
{
        const struct event *event;
        int rc = 0;
        for (size_t i = 1; rc == 0 && (event = amd_event(family, i)); i++)
                rc = add_event(perf, event->name, event->config, i == 1, diag);
        return rc;
}

static int add_table(struct perf_runner *perf, const struct machine *machine,
                     const struct machine_pmu *pmu, struct diag *diag)
{
        enum { ARCHITECTURAL_CYCLES = 0x3c }; /* Intel's code */
        struct intel_core core = intel_core_describe(machine, pmu, 0);
        const struct event *cycles = intel_core_event(&core, ROLE_CYCLES);
        bool amd = strcmp(machine->vendor, "AuthenticAMD") == 0;
        if (amd)
                cycles = amd_event(machine->family, 0);
        perf->pmu_type = pmu->type;
        perf->cycles = cycles ? cycles->config : ARCHITECTURAL_CYCLES;
        return amd ? add_amd_events(perf, machine->family, diag)
                   : add_intel_events(perf, &core, diag);
}

static bool is_candidate(const struct runner *runner, const char *name)
{
        for (size_t i = 0; i < runner->count; i++)
                if (strcasecmp(runner->candidates[i].name, name) == 0)
                        return true;
        return false;
}

static int add_code(struct perf_runner *perf, const char *name,
                    const struct pmu_code *code, struct diag *diag)
{
        int rc = add_event(perf, name, code->words[0], false, diag);
        struct plan_group *group = &perf->plan.groups[perf->plan.group_count - 1];
        if (rc == 0)
                attributes_set_code(&group->events[1].attr, code);
        return rc;
}

/* Events that the user named: libpfm4 knows their codes. */
static int add_named(struct perf_runner *perf, const char *const *names,
                     struct diag *diag)
{
        int rc = 0;
        for (; names && *names && rc == 0; names++) {
                struct pmu_code code;
                if (!is_candidate(&perf->runner, *names) && pfm_find(*names, &code))
                        rc = add_code(perf, *names, &code, diag);
        }
        return rc;
}

/* Whether a candidate with another name has the same code. */
static bool has_code(const struct perf_runner *perf, const struct pmu_code *code)
{
        for (size_t g = 0; g < perf->plan.group_count; g++) {
                const struct perf_event_attr *attr = &perf->plan.groups[g].events[1].attr;
                if (attr->config == code->words[0] && attr->config1 == code->words[1])
                        return true;
        }
        return false;
}

/* All memory events of libpfm4. */
static int add_all(struct perf_runner *perf, struct diag *diag)
{
        perf->names = pfm_memory_events();
        if (!perf->names)
                return diag_set(diag, -ENODEV,
                                "--all: libpfm4 knows no events of this CPU; name those "
                                "to try, or leave it out for those that are recorded");
        int rc = 0;
        for (char **name = perf->names; rc == 0 && *name; name++) {
                struct pmu_code code;
                if (!is_candidate(&perf->runner, *name) && pfm_find(*name, &code) &&
                    !has_code(perf, &code))
                        rc = add_code(perf, *name, &code, diag);
        }
        return rc;
}

static int add_memory_controllers(struct perf_runner *perf, const struct machine *machine,
                                  struct diag *diag)
{
        size_t first = perf->plan.group_count;
        if (plan_imc(machine, &perf->plan) < 0)
                return diag_no_memory(diag);
        int rc = 0;
        for (size_t g = first; rc == 0 && g < perf->plan.group_count; g++) {
                const struct plan_group *group = &perf->plan.groups[g];
                for (size_t e = 0; rc == 0 && e < group->count; e++)
                        if (!is_candidate(&perf->runner, group->events[e].name))
                                rc = runner_add_candidate(
                                    &perf->runner, group->events[e].name, true, diag);
        }
        return rc;
}

/* Removes events that cannot be counted, and says why. */
static int try_all(struct perf_runner *perf, struct diag *diag)
{
        size_t possible = 0;
        int last = 0;
        for (size_t i = 0; i < perf->runner.count; i++) {
                struct candidate *candidate = &perf->runner.candidates[i];
                struct open_counters open;
                int rc = open_counters(&perf->plan, candidate->name, &open);
                possible += rc == 0;
                if (rc == 0) {
                        close_counters(&open);
                        continue;
                }
                last = rc;
                candidate->wanted = false;
                diag_printf("validate", "%s cannot be counted here: %s", candidate->name,
                            strerror(-rc));
        }
        if (possible)
                return 0;
        return diag_set(diag, last ? last : -ENODEV,
                        "no event can be counted on this machine; 'memlag doctor' tells "
                        "why, --source sim needs no PMU");
}

/* Scan-resistant caches retain as many bytes as they hold. That must be below the judge's
 * tolerance of one in twenty. */
static uint64_t memory_trial_bytes(void)
{
        enum { TIMES_LAST_CACHE = 20 };
        const uint64_t unknown_cache = UINT64_C(32) << 20;
        uint64_t last = reported_cache_bytes(3);
        uint64_t most = conditions_memory_bytes(1) / 4;
        uint64_t bytes = TIMES_LAST_CACHE * (last ? last : unknown_cache);
        if (bytes <= most)
                return bytes;
        diag_printf("validate",
                    "memory for %llu MiB of data only, where %llu are wanted: loads that "
                    "hit the last cache make counts of lines too low",
                    (unsigned long long)(most >> 20), (unsigned long long)(bytes >> 20));
        return most & ~UINT64_C(4095);
}

static void set_sizes(struct trial_sizes *sizes)
{
        *sizes = (struct trial_sizes){
            .l1_bytes = reported_cache_bytes(1),
            .l2_bytes = reported_cache_bytes(2),
            .l3_bytes = reported_cache_bytes(3),
            .memory_bytes = memory_trial_bytes(),
        };
        if (!sizes->l1_bytes)
                sizes->l1_bytes = 32 << 10;
        if (sizes->l2_bytes < 4 * sizes->l1_bytes)
                sizes->l2_bytes = 4 * sizes->l1_bytes;
        if (sizes->l3_bytes < 4 * sizes->l2_bytes ||
            sizes->l3_bytes > sizes->memory_bytes / 4)
                sizes->l3_bytes = 0;
}

/* Pins to the first available CPU; on a hybrid CPU, to a fast core. */
static int pin_to(const struct machine_pmu *pmu, struct diag *diag)
{
        struct cpu_list cpus;
        int rc = cpu_list_read(&cpus, diag);
        if (rc < 0)
                return rc;
        int cpu = cpus.cpus[0];
        for (size_t i = cpus.count; i-- > 0;)
                for (size_t k = 0; k < pmu->cpu_count; k++)
                        if (pmu->cpus[k] == cpus.cpus[i])
                                cpu = cpus.cpus[i];
        cpu_list_free(&cpus);
        return cpu_pin(cpu, diag);
}

static int open_on(struct perf_runner *perf, const struct machine *machine,
                   const char *const *events, bool all, struct diag *diag)
{
        const struct machine_pmu *pmu = machine_large_core_pmu(machine);
        if (!pmu)
                return diag_set(diag, -ENODEV,
                                "no core PMU: the CPU's counters cannot be used; "
                                "--source sim needs none");
        int rc = pin_to(pmu, diag);
        if (rc == 0)
                rc = add_table(perf, machine, pmu, diag);
        if (rc == 0)
                rc = add_named(perf, events, diag);
        if (rc == 0 && all)
                rc = add_all(perf, diag);
        if (rc == 0)
                rc = add_memory_controllers(perf, machine, diag);
        return rc == 0 ? try_all(perf, diag) : rc;
}

int runner_open_perf(const char *const *events, bool all, struct runner **runner,
                     struct diag *diag)
{
        static const struct runner_ops ops = {run, close_perf};
        struct perf_runner *perf = calloc(1, sizeof(*perf));
        struct machine machine;
        if (!perf)
                return diag_no_memory(diag);
        perf->runner.ops = &ops;
        set_sizes(&perf->runner.sizes);
        machine_read("", &machine);
        machine_ask_cpu(&machine);
        int rc = open_on(perf, &machine, events, all, diag);
        machine_free(&machine);
        if (rc < 0)
                close_perf(&perf->runner);
        else
                *runner = &perf->runner;
        return rc;
}
