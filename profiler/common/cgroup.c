/* SPDX-License-Identifier: MIT */
/* Finds this process's control groups and reads their limits. */
#include "cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 8192 };

/* A control group's directory. The first mount_length bytes are its mount point; parent
 * groups lie between. */
struct cgroup {
        char directory[2 * LINE_BYTES];
        size_t mount_length;
        bool unified; /* version 2 */
};

static FILE *open_below(const char *root, const char *path)
{
        char whole[LINE_BYTES];
        snprintf(whole, sizeof(whole), "%s%s", root, path);
        return fopen(whole, "re");
}

/* Returns true if the comma-separated LIST contains WORD. */
static bool has_word(const char *list, const char *word)
{
        size_t length = strlen(word);
        for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
                if (strncmp(list, word, length) == 0 &&
                    (list[length] == ',' || list[length] == '\0'))
                        return true;
        return false;
}

/* Finds this process's path in the hierarchy with CONTROLLER: a version 1 hierarchy, or
 * else the version 2 hierarchy. */
static bool find_path(const char *root, const char *controller, char *path, size_t size,
                      bool *unified)
{
        char line[LINE_BYTES];
        bool found = false;
        FILE *groups = open_below(root, "/proc/self/cgroup");
        *unified = true;
        while (groups && *unified && fgets(line, sizeof(line), groups)) {
                char *names = strchr(line, ':');
                char *group = names ? strchr(names + 1, ':') : NULL;
                if (!group)
                        continue;
                *group++ = '\0';
                group[strcspn(group, "\n")] = '\0';
                if (has_word(names + 1, controller))
                        *unified = false;
                else if (names[1] != '\0')
                        continue;
                snprintf(path, size, "%s", group);
                found = true;
        }
        if (groups)
                fclose(groups);
        return found;
}

/* Finds the mount point of the hierarchy, and the directory that is mounted. */
static bool find_mount(const char *root, const char *controller, bool unified,
                       char *mounted, char *point)
{
        char line[LINE_BYTES];
        bool found = false;
        FILE *mounts = open_below(root, "/proc/self/mountinfo");
        while (mounts && !found && fgets(line, sizeof(line), mounts)) {
                char type[32], options[LINE_BYTES];
                char *end = strstr(line, " - ");
                if (!end ||
                    sscanf(line, "%*s %*s %*s %4095s %4095s", mounted, point) != 2 ||
                    sscanf(end, " - %31s %*s %8191s", type, options) != 2)
                        continue;
                found = unified ? strcmp(type, "cgroup2") == 0
                                : strcmp(type, "cgroup") == 0 &&
                                      has_word(options, controller);
        }
        if (mounts)
                fclose(mounts);
        return found;
}

static bool cgroup_find(const char *root, const char *controller, struct cgroup *cgroup)
{
        char path[PATH_MAX], mounted[PATH_MAX], point[PATH_MAX];
        if (!find_path(root, controller, path, sizeof(path), &cgroup->unified) ||
            !find_mount(root, controller, cgroup->unified, mounted, point))
                return false;
        /* In a container, the mounted root can be the container's group. */
        size_t shared = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
        const char *below = path;
        if (strncmp(path, mounted, shared) == 0)
                below = path + shared;
        snprintf(cgroup->directory, sizeof(cgroup->directory), "%s%s", root, point);
        cgroup->mount_length = strlen(cgroup->directory);
        if (strcmp(below, "/") != 0)
                strncat(cgroup->directory, below,
                        sizeof(cgroup->directory) - cgroup->mount_length - 1);
        return true;
}

/* To the group above; false at the top. */
static bool cgroup_up(struct cgroup *cgroup)
{
        char *end = strrchr(cgroup->directory, '/');
        if (!end || (size_t)(end - cgroup->directory) < cgroup->mount_length)
                return false;
        *end = '\0';
        return true;
}

/* Reads the numbers at the start of the group's FILE; returns their count. "max" is no
 * number. */
static int read_numbers(const struct cgroup *cgroup, const char *file, double *first,
                        double *second)
{
        char path[sizeof(cgroup->directory) + 64];
        int count = 0;
        snprintf(path, sizeof(path), "%s/%s", cgroup->directory, file);
        FILE *in = fopen(path, "re");
        if (in) {
                count = fscanf(in, "%lf %lf", first, second);
                fclose(in);
        }
        return count > 0 ? count : 0;
}

static double cpus_of(const struct cgroup *cgroup)
{
        double quota = -1, period = 0, ignored;
        if (cgroup->unified)
                read_numbers(cgroup, "cpu.max", &quota, &period);
        else if (read_numbers(cgroup, "cpu.cfs_quota_us", &quota, &ignored))
                read_numbers(cgroup, "cpu.cfs_period_us", &period, &ignored);
        return quota > 0 && period > 0 ? quota / period : NAN;
}

double cgroup_cpus(const char *root)
{
        struct cgroup cgroup;
        double cpus = NAN;
        if (!cgroup_find(root, "cpu", &cgroup))
                return NAN;
        do
                cpus = fmin(cpus, cpus_of(&cgroup));
        while (cgroup_up(&cgroup));
        return cpus;
}

/* Bytes of file cache charged to the group and its descendants: the kernel reclaims them
 * when the group needs memory. */
static double cache_of(const struct cgroup *cgroup)
{
        char path[sizeof(cgroup->directory) + 64], line[128], name[64];
        double value, bytes = 0;
        snprintf(path, sizeof(path), "%s/memory.stat", cgroup->directory);
        FILE *in = fopen(path, "re");
        /* In version 1, names without "total_" leave out the groups below. */
        const char *prefix = cgroup->unified ? "" : "total_";
        size_t length = strlen(prefix);
        while (in && fgets(line, sizeof(line), in))
                if (sscanf(line, "%63s %lf", name, &value) == 2 &&
                    strncmp(name, prefix, length) == 0 &&
                    (strcmp(name + length, "inactive_file") == 0 ||
                     strcmp(name + length, "active_file") == 0))
                        bytes += value;
        if (in)
                fclose(in);
        return bytes;
}

static double memory_of(const struct cgroup *cgroup)
{
        double limit, used, ignored;
        const char *limit_file = cgroup->unified ? "memory.max" : "memory.limit_in_bytes";
        const char *used_file =
            cgroup->unified ? "memory.current" : "memory.usage_in_bytes";
        if (!read_numbers(cgroup, limit_file, &limit, &ignored))
                return INFINITY;
        if (!read_numbers(cgroup, used_file, &used, &ignored))
                used = 0;
        used = fmax(0, used - cache_of(cgroup));
        return fmax(0, limit - used);
}

uint64_t cgroup_memory_bytes(const char *root)
{
        struct cgroup cgroup;
        double bytes = INFINITY;
        if (!cgroup_find(root, "memory", &cgroup))
                return UINT64_MAX;
        do
                bytes = fmin(bytes, memory_of(&cgroup));
        while (cgroup_up(&cgroup));
        /* Version 1 writes "no limit" as a number of this size. */
        return bytes < 0x1p62 ? (uint64_t)bytes : UINT64_MAX;
}
