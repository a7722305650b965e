/* SPDX-License-Identifier: MIT */
/* What /proc and /sys say of this machine's ability to sample memory accesses. Only
 * reads: it knows neither what memlag makes of the facts nor how to change them. */
#ifndef MEMLAG_PERF_MACHINE_H
#define MEMLAG_PERF_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_UNKNOWN INT64_MIN /* what is not told */

enum { MACHINE_PMUS_MAX = 4 }; /* one for each kind of core that Linux names */

struct machine_pmu {
        char name[32]; /* cpu, cpu_core, cpu_atom */
        int64_t max_precise;
        bool mem_loads;
        bool mem_loads_aux;
        bool mem_stores;
        bool ldlat;
};

struct machine {
        char vendor[32]; /* GenuineIntel, AuthenticAMD; empty when not told */
        char model_name[128];
        int64_t family;
        int64_t model;
        int64_t stepping;
        bool hypervisor;
        bool container;
        bool ibs_flag; /* the CPU has IBS */
        bool ibs_op;   /* the kernel offers it */
        bool ibs_ldlat;
        size_t pmu_count;
        struct machine_pmu pmus[MACHINE_PMUS_MAX];
        size_t imc_count;
        int64_t perf_event_paranoid;
        int64_t perf_event_mlock_kb;
        int64_t kptr_restrict;
        uint64_t effective_capabilities;
        bool seccomp_filter;
        bool debug_files; /* /usr/lib/debug/.build-id is there */
};

/* Reads the facts below the directory ROOT ("" for this machine). What cannot be read
 * is as if it were not there. */
void machine_read(const char *root, struct machine *machine);

#endif
