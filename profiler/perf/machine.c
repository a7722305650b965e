/* SPDX-License-Identifier: MIT */
/* Reads the machine's facts, each from the file that the kernel documents for it. */
#include "machine.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PMU_DIRECTORY "/sys/bus/event_source/devices"

static FILE *open_below(const char *root, const char *path)
{
        char joined[PATH_MAX];
        if (snprintf(joined, sizeof(joined), "%s%s", root, path) >= (int)sizeof(joined))
                return NULL;
        return fopen(joined, "re");
}

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
        FILE *file = open_below(root, path);
        if (!file)
                return MACHINE_UNKNOWN;
        if (fscanf(file, "%" SCNd64, &number) != 1)
                number = MACHINE_UNKNOWN;
        fclose(file);
        return number;
}

/* ---- the CPU ------------------------------------------------------------------ */

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
        FILE *file = open_below(root, "/proc/cpuinfo");
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

/* ---- PMUs --------------------------------------------------------------------- */

static bool pmu_has(const char *root, const char *pmu, const char *file)
{
        char path[PATH_MAX];
        snprintf(path, sizeof(path), PMU_DIRECTORY "/%s/%s", pmu, file);
        return is_there(root, path);
}

static void add_core_pmu(const char *root, const char *name, struct machine *machine)
{
        struct machine_pmu *pmu = &machine->pmus[machine->pmu_count++];
        char path[PATH_MAX];
        snprintf(pmu->name, sizeof(pmu->name), "%s", name);
        snprintf(path, sizeof(path), PMU_DIRECTORY "/%s/caps/max_precise", name);
        pmu->max_precise = read_number(root, path);
        pmu->mem_loads = pmu_has(root, name, "events/mem-loads");
        pmu->mem_loads_aux = pmu_has(root, name, "events/mem-loads-aux");
        pmu->mem_stores = pmu_has(root, name, "events/mem-stores");
        pmu->ldlat = pmu_has(root, name, "format/ldlat");
}

static void read_pmus(const char *root, struct machine *machine)
{
        static const char *const cores[] = {"cpu", "cpu_core", "cpu_atom",
                                            "cpu_lowpower"};
        static_assert(sizeof(cores) / sizeof(cores[0]) == MACHINE_PMUS_MAX,
                      "room for all");
        for (size_t i = 0; i < MACHINE_PMUS_MAX; i++)
                if (pmu_has(root, cores[i], "type"))
                        add_core_pmu(root, cores[i], machine);
        machine->ibs_op = pmu_has(root, "ibs_op", "type");
        machine->ibs_ldlat = pmu_has(root, "ibs_op", "format/ldlat");

        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s" PMU_DIRECTORY, root);
        DIR *directory = opendir(path);
        if (!directory)
                return;
        for (struct dirent *entry; (entry = readdir(directory));)
                machine->imc_count += strncmp(entry->d_name, "uncore_imc", 10) == 0;
        closedir(directory);
}

/* ---- rights ------------------------------------------------------------------- */

static void read_rights(const char *root, struct machine *machine)
{
        machine->perf_event_paranoid =
            read_number(root, "/proc/sys/kernel/perf_event_paranoid");
        machine->perf_event_mlock_kb =
            read_number(root, "/proc/sys/kernel/perf_event_mlock_kb");
        machine->kptr_restrict = read_number(root, "/proc/sys/kernel/kptr_restrict");
        FILE *file = open_below(root, "/proc/self/status");
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
        read_pmus(root, machine);
        read_rights(root, machine);
        machine->container = is_there(root, "/.dockerenv") ||
                             is_there(root, "/run/.containerenv") ||
                             is_there(root, "/run/systemd/container");
        machine->debug_files = is_there(root, "/usr/lib/debug/.build-id");
}
