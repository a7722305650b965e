/* SPDX-License-Identifier: MIT */
/* Detects other users of the machine during a timing: other programs, by the kernel's
 * time per CPU, and other virtual machines, by stolen time. */
#ifndef MEMLAG_INTERFERENCE_H
#define MEMLAG_INTERFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Times since boot, in hundredths of a second, summed over CPUs. */
struct machine_time {
        uint64_t used;     /* by all programs */
        uint64_t used_off; /* used time on CPUs outside OURS */
        uint64_t stolen;   /* by the hypervisor */
        unsigned cpus;
};

/* Parses STAT, in the format of /proc/stat; OURS: CPUs in ascending order. */
void machine_time_parse(FILE *stat, const int *ours, size_t count,
                        struct machine_time *time);

/* Reads /proc/stat; all zero if it is missing. */
void machine_time_read(const int *ours, size_t count, struct machine_time *time);

/* Whether others used the machine from BEFORE to AFTER, SECONDS later: time was stolen,
 * or CPUs outside OURS were busy for more than a twentieth. */
bool machine_was_shared(const struct machine_time *before,
                        const struct machine_time *after, double seconds);

/* The number of involuntary context switches of the calling thread. */
long interference_switches(void);

/* State for measuring other users' share of a time span. */
struct interference {
        struct machine_time before;
        double begin_seconds, own_seconds;
};

void interference_begin(struct interference *interference);

/* Shares of all CPUs' time since the start, from 0 to 1: OTHERS, by other programs, and
 * STOLEN. */
void interference_shares(const struct interference *interference, double *others,
                         double *stolen);

#endif
