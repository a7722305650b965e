/* SPDX-License-Identifier: MIT */
/* What else uses the machine while something is timed: other programs, by the kernel's
 * times of each CPU, and other virtual machines, by the time stolen from this one. */
#ifndef MEMLAG_INTERFERENCE_H
#define MEMLAG_INTERFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Times since the boot, in ticks of a hundredth of a second; of all CPUs together. */
struct machine_time {
        uint64_t used;     /* by all programs, on all CPUs */
        uint64_t used_off; /* the same on the CPUs that are not those asked about */
        uint64_t stolen;   /* by the hypervisor */
        unsigned cpus;
};

/* Reads STAT, which has the form of /proc/stat; OURS are CPUs in ascending order. */
void machine_time_parse(FILE *stat, const int *ours, size_t count,
                        struct machine_time *time);

/* Reads /proc/stat. All is zero where there is none. */
void machine_time_read(const int *ours, size_t count, struct machine_time *time);

/* Whether something else was at work from BEFORE to AFTER, SECONDS later: time was
 * stolen, or the CPUs that are not ours did more than a twentieth of what they could. */
bool machine_was_shared(const struct machine_time *before,
                        const struct machine_time *after, double seconds);

/* How often the calling thread was taken from its CPU against its will. */
long interference_switches(void);

/* A time of work: what share of it others had. */
struct interference {
        struct machine_time before;
        double begin_seconds, own_seconds;
};

void interference_begin(struct interference *interference);

/* Shares of the time of all CPUs since then, from 0 to 1: of OTHERS, all programs but
 * this one, and STOLEN. */
void interference_shares(const struct interference *interference, double *others,
                         double *stolen);

#endif
