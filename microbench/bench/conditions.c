/* SPDX-License-Identifier: MIT */
/* Finds conditions that limit a calibration. */
#include "conditions.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cgroup.h"

/* Larger shares are reported. */
static const double SHARE_OF_OTHERS = 0.05, SHARE_STOLEN = 0.01;

/* ---- memory ---- */

/* UINT64_MAX: the kernel does not report it. */
static uint64_t available_bytes(void)
{
        char line[256];
        unsigned long long kib = 0;
        FILE *file = fopen("/proc/meminfo", "re");
        while (file && fgets(line, sizeof(line), file))
                if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
                        break;
        if (file)
                fclose(file);
        return kib ? (uint64_t)kib << 10 : UINT64_MAX;
}

/* The remaining address space, without the stacks of THREADS. */
static uint64_t address_space_bytes(size_t threads)
{
        struct rlimit space, stack;
        unsigned long long pages = 0;
        if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY)
                return UINT64_MAX;
        FILE *file = fopen("/proc/self/statm", "re");
        if (file) {
                if (fscanf(file, "%llu", &pages) != 1)
                        pages = 0;
                fclose(file);
        }
        uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
        if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY)
                used += threads * stack.rlim_cur;
        return space.rlim_cur > used ? space.rlim_cur - used : 0;
}

uint64_t conditions_memory_bytes(size_t threads)
{
        const uint64_t limits[] = {available_bytes(), cgroup_memory_bytes(""),
                                   address_space_bytes(threads)};
        uint64_t least = limits[0];
        for (size_t i = 1; i < sizeof(limits) / sizeof(limits[0]); i++)
                least = limits[i] < least ? limits[i] : least;
        return least;
}

/* ---- the list ---- */

void conditions_add(json_t *list, const char *condition, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "condition", condition, "meaning",
                                        json_vsprintf(format, arguments)));
        va_end(arguments);
}

static void find_cpu_limit(json_t *list)
{
        double cpus = cgroup_cpus("");
        if (!isnan(cpus))
                conditions_add(
                    list, "cgroup-cpu-limit",
                    "this process's cgroup may use %.2f CPUs, and is stopped "
                    "when that is used up: latency is that of the time between, "
                    "bandwidth of more threads than that is too low",
                    cpus);
}

json_t *conditions_find(size_t cpus)
{
        json_t *list = json_array();
        if (cpus == 1)
                conditions_add(list, "one-cpu",
                               "nothing can load the memory beside the chase: no latency "
                               "under load, no saturation");
        find_cpu_limit(list);
        return list;
}

void conditions_add_interference(json_t *list, const struct interference *interference)
{
        double others, stolen;
        interference_shares(interference, &others, &stolen);
        if (others > SHARE_OF_OTHERS)
                conditions_add(
                    list, "machine-under-load",
                    "other programs had %.1f %% of the CPUs' time meanwhile: "
                    "they take cache, bandwidth and time from what is measured",
                    100 * others);
        if (stolen > SHARE_STOLEN)
                conditions_add(list, "stolen-time",
                               "the hypervisor kept %.1f %% of the CPUs' time from this "
                               "virtual machine: its neighbours take cache and bandwidth "
                               "from what is measured",
                               100 * stolen);
}
