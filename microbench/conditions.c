/* SPDX-License-Identifier: MIT */
/* What limits a calibration. */
#include "conditions.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file, without its end; false when it cannot be read. */
static bool read_line(const char *path, char *line, size_t size)
{
        FILE *file = fopen(path, "re");
        bool read = file && fgets(line, (int)size, file);
        if (file)
                fclose(file);
        if (read)
                line[strcspn(line, "\n")] = '\0';
        return read;
}

/* The line of this process's cgroup, or of the nearest one above, that has FILE
 * (cgroup v2). */
static bool read_cgroup(const char *file, char *line, size_t size)
{
        char group[4096], path[8192];
        FILE *groups = fopen("/proc/self/cgroup", "re");
        bool found = false;
        while (groups && !found && fgets(group, sizeof(group), groups))
                found = strncmp(group, "0::/", 4) == 0;
        if (groups)
                fclose(groups);
        if (!found)
                return false;
        group[strcspn(group, "\n")] = '\0';
        for (char *end = group; end; end = strrchr(group + 3, '/')) {
                if (end > group)
                        *end = '\0'; /* the group above */
                snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group + 3, file);
                if (read_line(path, line, size) && strncmp(line, "max", 3) != 0)
                        return true;
        }
        return false;
}

uint64_t conditions_memory_bytes(void)
{
        char line[256];
        unsigned long long kib = 0;
        FILE *file = fopen("/proc/meminfo", "re");
        while (file && fgets(line, sizeof(line), file))
                if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
                        break;
        if (file)
                fclose(file);
        uint64_t available = (uint64_t)kib << 10;
        if (read_cgroup("memory.max", line, sizeof(line))) {
                uint64_t limit = strtoull(line, NULL, 10);
                uint64_t used = read_cgroup("memory.current", line, sizeof(line))
                                    ? strtoull(line, NULL, 10)
                                    : 0;
                uint64_t left = limit > used ? limit - used : 0;
                if (left < available)
                        available = left;
        }
        return available;
}

void conditions_add(json_t *list, const char *condition, const char *format, ...)
{
        char meaning[512];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(meaning, sizeof(meaning), format, arguments);
        va_end(arguments);
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "condition", condition, "meaning", meaning));
}

static void find_cpu_limit(json_t *list)
{
        char line[256];
        double quota, period;
        if (read_cgroup("cpu.max", line, sizeof(line)) &&
            sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0)
                conditions_add(list, "cgroup-cpu-limit",
                               "this process's cgroup may use %.2f CPUs: threads are "
                               "stopped in between, so bandwidth of more threads than "
                               "that is too low",
                               quota / period);
}

static void find_huge_pages(json_t *list)
{
        char line[256];
        if (!read_line("/sys/kernel/mm/transparent_hugepage/enabled", line,
                       sizeof(line)) ||
            strstr(line, "[never]"))
                conditions_add(list, "no-huge-pages",
                               "latency of large sizes has TLB misses in it");
}

static void find_load(json_t *list, size_t cpus)
{
        char line[256];
        double average;
        if (read_line("/proc/loadavg", line, sizeof(line)) &&
            sscanf(line, "%lf", &average) == 1 && average > 0.5 * (double)cpus)
                conditions_add(
                    list, "machine-under-load",
                    "the load average is %.2f on %zu CPUs: other programs take "
                    "cache, bandwidth and time from the measurement",
                    average, cpus);
}

json_t *conditions_find(size_t cpus)
{
        json_t *list = json_array();
        if (cpus == 1)
                conditions_add(list, "one-cpu",
                               "nothing can load the memory beside the chase: no latency "
                               "under load, no saturation");
        find_cpu_limit(list);
        find_huge_pages(list);
        find_load(list, cpus);
        return list;
}
