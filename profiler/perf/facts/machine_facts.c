/* SPDX-License-Identifier: MIT */
/* Reads the machine's facts, each from the file that the kernel documents for it. */
#include "machine_facts.h"

#include <assert.h>
#include <cpuid.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "root_file.h"

static bool is_there(const char *root, const char *path)
{
        char joined[PATH_MAX];
        return snprintf(joined, sizeof(joined), "%s%s", root, path) <
                   (int)sizeof(joined) &&
               access(joined, F_OK) == 0;
}

static int64_t read_number(const char *root, const char *path)
{
        int64_t number = MACHINE_UNKNOWN;
        FILE *file = root_file_open(root, path);
        if (!file)
                return MACHINE_UNKNOWN;
        if (fscanf(file, "%" SCNd64, &number) != 1)
                number = MACHINE_UNKNOWN;
        fclose(file);
        return number;
}

/* ---- the CPU ---- */

static bool has_word(const char *words, const char *word)
{
        size_t length = strlen(word);
        for (const char *at = words; (at = strstr(at, word)); at += length)
                if ((at == words || at[-1] == ' ') && strchr(" \n", at[length]))
                        return true;
        return false;
}

static void copy_value(char *to, size_t size, const char *value)
{
        snprintf(to, size, "%.*s", (int)strcspn(value, "\n"), value);
}

static void read_cpu_line(struct machine *machine, const char *line)
{
        const char *value = strchr(line, ':');
        if (!value)
                return;
        value += value[1] == ' ' ? 2 : 1;
        if (strncmp(line, "vendor_id", 9) == 0)
                copy_value(machine->vendor, sizeof(machine->vendor), value);
        else if (strncmp(line, "cpu family", 10) == 0)
                machine->family = strtol(value, NULL, 10);
        else if (strncmp(line, "model name", 10) == 0)
                copy_value(machine->model_name, sizeof(machine->model_name), value);
        else if (strncmp(line, "model", 5) == 0)
                machine->model = strtol(value, NULL, 10);
        else if (strncmp(line, "cpu MHz", 7) == 0)
                machine->clock_mhz = strtod(value, NULL);
        else if (strncmp(line, "stepping", 8) == 0)
                machine->stepping = strtol(value, NULL, 10);
        else if (strncmp(line, "flags", 5) == 0) {
                machine->hypervisor = has_word(value, "hypervisor");
                machine->ibs_flag = has_word(value, "ibs");
        }
}

/* The first CPU: up to the empty line. */
static void read_cpu(const char *root, struct machine *machine)
{
        FILE *file = root_file_open(root, "/proc/cpuinfo");
        char *line = NULL;
        size_t size = 0;
        machine->family = machine->model = machine->stepping = MACHINE_UNKNOWN;
        if (!file)
                return;
        while (getline(&line, &size, file) > 1)
                read_cpu_line(machine, line);
        free(line);
        fclose(file);
}

/* ---- PMUs ---- */

static bool pmu_has(const char *root, const char *pmu, const char *file)
{
        char path[PATH_MAX];
        return snprintf(path, sizeof(path), PMU_DIRECTORY "/%s/%s", pmu, file) <
                   (int)sizeof(path) &&
               is_there(root, path);
}

static uint32_t read_type(const char *root, const char *pmu)
{
        double type = 0;
        return pmu_read_number(root, pmu, "type", &type) && type >= 0 &&
                       type <= UINT32_MAX
                   ? (uint32_t)type
                   : 0;
}

static struct machine_alias read_alias(const char *root, const char *pmu,
                                       const char *event)
{
        struct machine_alias alias;
        alias.known = pmu_read_alias(root, pmu, event, &alias.code);
        return alias;
}

static struct machine_field read_field(const char *root, const char *pmu,
                                       const char *name)
{
        struct machine_field field;
        field.known = pmu_read_field(root, pmu, name, &field.field);
        return field;
}

static void add_core_pmu(const char *root, const char *name, struct machine *machine)
{
        struct machine_pmu *pmu = &machine->pmus[machine->pmu_count++];
        double max_precise;
        snprintf(pmu->name, sizeof(pmu->name), "%s", name);
        pmu->type = read_type(root, name);
        pmu->max_precise = pmu_read_number(root, name, "caps/max_precise", &max_precise)
                               ? (int64_t)max_precise
                               : MACHINE_UNKNOWN;
        pmu->mem_loads = read_alias(root, name, "mem-loads");
        pmu->mem_loads_aux = read_alias(root, name, "mem-loads-aux");
        pmu->mem_stores = read_alias(root, name, "mem-stores");
        pmu->ldlat = read_field(root, name, "ldlat");
        pmu_read_cpus(root, name, &pmu->cpus, &pmu->cpu_count);
}

static void read_core_pmus(const char *root, struct machine *machine)
{
        static const char *const cores[] = {"cpu", "cpu_core", "cpu_atom",
                                            "cpu_lowpower"};
        static_assert(sizeof(cores) / sizeof(cores[0]) == MACHINE_PMUS_MAX,
                      "room for all");
        for (size_t i = 0; i < MACHINE_PMUS_MAX; i++)
                if (pmu_has(root, cores[i], "type"))
                        add_core_pmu(root, cores[i], machine);
}

static void read_ibs(const char *root, struct machine *machine)
{
        machine->ibs_op = pmu_has(root, "ibs_op", "type");
        machine->ibs = (struct machine_ibs){
            .type = read_type(root, "ibs_op"),
            .cnt_ctl = read_field(root, "ibs_op", "cnt_ctl"),
            .swfilt = read_field(root, "ibs_op", "swfilt"),
            .ldlat = read_field(root, "ibs_op", "ldlat"),
        };
}

/* ---- memory controllers ---- */

/* The kernel's names, by generation: servers; servers with two sub-channels; clients'
 * counters that always run; older clients. */
static const struct {
        const char *reads[2];
        const char *writes[2];
} imc_aliases[] = {
    {{"cas_count_read", NULL}, {"cas_count_write", NULL}},
    {{"cas_count_read_sch0", "cas_count_read_sch1"},
     {"cas_count_write_sch0", "cas_count_write_sch1"}},
    {{"data_read", NULL}, {"data_write", NULL}},
    {{"data_reads", NULL}, {"data_writes", NULL}},
};

/* Returns the bytes per count of the event: its scale is in MiB. */
static double read_imc_scale(const char *root, const char *pmu, const char *event)
{
        char file[64];
        double scale;
        snprintf(file, sizeof(file), "events/%s.scale", event);
        return pmu_read_number(root, pmu, file, &scale) && scale > 0 ? scale * (1 << 20)
                                                                     : 64;
}

static void read_imc_events(const char *root, struct machine_imc *imc)
{
        for (size_t i = 0; i < sizeof(imc_aliases) / sizeof(imc_aliases[0]); i++) {
                for (size_t part = 0; part < 2; part++) {
                        const char *reads = imc_aliases[i].reads[part];
                        const char *writes = imc_aliases[i].writes[part];
                        if (reads)
                                imc->reads[part] = read_alias(root, imc->name, reads);
                        if (writes)
                                imc->writes[part] = read_alias(root, imc->name, writes);
                }
                if (!imc->reads[0].known || !imc->writes[0].known)
                        continue;
                imc->read_bytes =
                    read_imc_scale(root, imc->name, imc_aliases[i].reads[0]);
                imc->write_bytes =
                    read_imc_scale(root, imc->name, imc_aliases[i].writes[0]);
                return;
        }
}

static void add_imc(const char *root, const char *name, struct machine *machine)
{
        if (strlen(name) >= sizeof(machine->imcs->name))
                return;
        struct machine_imc *grown =
            reallocarray(machine->imcs, machine->imc_count + 1, sizeof(*grown));
        if (!grown)
                return;
        machine->imcs = grown;
        struct machine_imc *imc = &grown[machine->imc_count++];
        *imc = (struct machine_imc){.read_bytes = 64, .write_bytes = 64};
        strcpy(imc->name, name);
        imc->type = read_type(root, name);
        read_imc_events(root, imc);
        pmu_read_cpus(root, name, &imc->cpus, &imc->cpu_count);
}

static int by_name(const void *left, const void *right)
{
        const struct machine_imc *a = left, *b = right;
        return strcmp(a->name, b->name);
}

static void read_imcs(const char *root, struct machine *machine)
{
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s" PMU_DIRECTORY, root);
        DIR *directory = opendir(path);
        if (!directory)
                return;
        for (struct dirent *entry; (entry = readdir(directory));)
                if (strncmp(entry->d_name, "uncore_imc", 10) == 0)
                        add_imc(root, entry->d_name, machine);
        closedir(directory);
        if (machine->imc_count)
                qsort(machine->imcs, machine->imc_count, sizeof(*machine->imcs), by_name);
}

/* ---- rights ---- */

static void read_rights(const char *root, struct machine *machine)
{
        machine->perf_event_paranoid =
            read_number(root, "/proc/sys/kernel/perf_event_paranoid");
        machine->perf_event_mlock_kb =
            read_number(root, "/proc/sys/kernel/perf_event_mlock_kb");
        machine->kptr_restrict = read_number(root, "/proc/sys/kernel/kptr_restrict");
        FILE *file = root_file_open(root, "/proc/self/status");
        char line[256];
        while (file && fgets(line, sizeof(line), file)) {
                if (strncmp(line, "CapEff:", 7) == 0)
                        machine->effective_capabilities = strtoull(line + 7, NULL, 16);
                else if (strncmp(line, "Seccomp:", 8) == 0)
                        machine->seccomp_filter = strtol(line + 8, NULL, 10) == 2;
        }
        if (file)
                fclose(file);
}

void machine_read(const char *root, struct machine *machine)
{
        memset(machine, 0, sizeof(*machine));
        read_cpu(root, machine);
        read_core_pmus(root, machine);
        read_ibs(root, machine);
        read_imcs(root, machine);
        read_rights(root, machine);
        int64_t base_khz =
            read_number(root, "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");
        machine->base_mhz = base_khz > 0 ? (double)base_khz / 1000 : 0;
        machine->nmi_watchdog = read_number(root, "/proc/sys/kernel/nmi_watchdog") == 1;
        machine->container = is_there(root, "/.dockerenv") ||
                             is_there(root, "/run/.containerenv") ||
                             is_there(root, "/run/systemd/container");
        machine->debug_files = is_there(root, "/usr/lib/debug/.build-id");
}

void machine_free(struct machine *machine)
{
        for (size_t i = 0; i < machine->pmu_count; i++)
                free(machine->pmus[i].cpus);
        for (size_t i = 0; i < machine->imc_count; i++)
                free(machine->imcs[i].cpus);
        free(machine->imcs);
        *machine = (struct machine){.imcs = NULL};
}

const struct machine_pmu *machine_large_core_pmu(const struct machine *machine)
{
        for (size_t i = 0; i < machine->pmu_count; i++)
                if (strcmp(machine->pmus[i].name, "cpu_core") == 0)
                        return &machine->pmus[i];
        return machine->pmu_count ? &machine->pmus[0] : NULL;
}

void machine_ask_cpu(struct machine *machine)
{
        unsigned eax, ebx, ecx, edx;
        /* Kinds of core differ, and CPUID describes only the current core. */
        if (strcmp(machine->vendor, "GenuineIntel") == 0 && machine->pmu_count == 1 &&
            __get_cpuid(0xa, &eax, &ebx, &ecx, &edx))
                machine->counters = eax >> 8 & 0xff;
        if (machine->base_mhz == 0 && __get_cpuid(0x16, &eax, &ebx, &ecx, &edx))
                machine->base_mhz = eax & 0xffff;
}
