/* SPDX-License-Identifier: MIT */
/* Detects other users of the machine from the kernel's accounting. */
#include "interference.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "elapsed.h"

static const double BUSY_PART = 0.05;

/* Adds one CPU's line. */
static void add_cpu(const char *line, const int *ours, size_t count,
                    struct machine_time *time)
{
        unsigned cpu;
        uint64_t user, nice, system, idle, iowait, irq, softirq, steal = 0;
        /* Skips the total, which begins with "cpu ". */
        if (line[3] == ' ' || sscanf(line,
                                     "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                                     " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                                     &cpu, &user, &nice, &system, &idle, &iowait, &irq,
                                     &softirq, &steal) < 8)
                return;
        uint64_t used = user + nice + system + irq + softirq;
        bool is_ours = false;
        for (size_t i = 0; i < count && !is_ours; i++)
                is_ours = ours[i] == (int)cpu;
        time->cpus++;
        time->used += used;
        time->used_off += is_ours ? 0 : used;
        time->stolen += steal;
}

void machine_time_parse(FILE *stat, const int *ours, size_t count,
                        struct machine_time *time)
{
        char line[512];
        *time = (struct machine_time){0};
        while (fgets(line, sizeof(line), stat) && strncmp(line, "cpu", 3) == 0)
                add_cpu(line, ours, count, time);
}

void machine_time_read(const int *ours, size_t count, struct machine_time *time)
{
        FILE *stat = fopen("/proc/stat", "re");
        *time = (struct machine_time){0};
        if (!stat)
                return;
        machine_time_parse(stat, ours, count, time);
        fclose(stat);
}

bool machine_was_shared(const struct machine_time *before,
                        const struct machine_time *after, double seconds)
{
        double ticks = seconds * (double)sysconf(_SC_CLK_TCK);
        return after->stolen > before->stolen ||
               (double)(after->used_off - before->used_off) >
                   BUSY_PART * ticks * after->cpus;
}

long interference_switches(void)
{
        struct rusage usage;
        getrusage(RUSAGE_THREAD, &usage);
        return usage.ru_nivcsw;
}

static double own_seconds(void)
{
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void interference_begin(struct interference *interference)
{
        machine_time_read(NULL, 0, &interference->before);
        interference->begin_seconds = clock_seconds();
        interference->own_seconds = own_seconds();
}

void interference_shares(const struct interference *interference, double *others,
                         double *stolen)
{
        const struct machine_time *before = &interference->before;
        struct machine_time after;
        machine_time_read(NULL, 0, &after);
        double tick_seconds = 1 / (double)sysconf(_SC_CLK_TCK);
        double all = (clock_seconds() - interference->begin_seconds) * after.cpus;
        double used = (double)(after.used - before->used) * tick_seconds -
                      (own_seconds() - interference->own_seconds);
        *others = all > 0 ? fmin(1, fmax(0, used / all)) : 0;
        *stolen =
            all > 0 ? (double)(after.stolen - before->stolen) * tick_seconds / all : 0;
}
