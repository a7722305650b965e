/* SPDX-License-Identifier: MIT */
/* Capabilities of this machine for sampling memory accesses, from /proc and /sys. Only
 * reads: it neither interprets nor changes the settings. */
#ifndef MEMLAG_PERF_MACHINE_FACTS_H
#define MEMLAG_PERF_MACHINE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmu.h"

#define MACHINE_UNKNOWN INT64_MIN /* not reported */

enum { MACHINE_PMUS_MAX = 4 }; /* one for each kind of core that Linux names */

/* An event that the kernel names, and a parameter's position. */
struct machine_alias {
        bool known;
        struct pmu_code code;
};
struct machine_field {
        bool known;
        struct pmu_field field;
};

struct machine_pmu {
        char name[32]; /* cpu, cpu_core, cpu_atom */
        uint32_t type; /* of struct perf_event_attr */
        int64_t max_precise;
        struct machine_alias mem_loads;
        struct machine_alias mem_loads_aux;
        struct machine_alias mem_stores;
        struct machine_alias pfm_loads; /* mem-loads as libpfm4 has it; see pfm.h */
        struct machine_field ldlat;
        int *cpus;        /* where its cores are */
        size_t cpu_count; /* 0: on every CPU */
};

struct machine_ibs {
        uint32_t type;
        struct machine_field cnt_ctl; /* count operations, not cycles */
        struct machine_field swfilt;  /* leave the kernel's samples out by software */
        struct machine_field ldlat;
};

/* One memory controller's PMU, or one channel's. */
struct machine_imc {
        char name[32];
        uint32_t type;
        int *cpus; /* one of each package; the PMU counts for it */
        size_t cpu_count;
        struct machine_alias reads[2]; /* to be added up */
        struct machine_alias writes[2];
        double read_bytes; /* bytes per count */
        double write_bytes;
};

struct machine {
        char vendor[32]; /* GenuineIntel, AuthenticAMD; empty: unknown */
        char model_name[128];
        int64_t family;
        int64_t model;
        int64_t stepping;
        bool hypervisor;
        bool container;
        bool ibs_flag; /* the CPU has IBS */
        bool ibs_op;   /* the kernel offers it, as follows */
        struct machine_ibs ibs;
        size_t pmu_count;
        struct machine_pmu pmus[MACHINE_PMUS_MAX];
        size_t imc_count;
        struct machine_imc *imcs;
        /* General counters of each CPU, as CPUID reports; 0: unknown. */
        unsigned counters;
        bool nmi_watchdog; /* it occupies a counter */
        double base_mhz;   /* the clock without turbo; 0: unknown */
        double clock_mhz;  /* the clock when it was read; 0: unknown */
        int64_t perf_event_paranoid;
        int64_t perf_event_mlock_kb;
        int64_t kptr_restrict;
        uint64_t effective_capabilities;
        bool seccomp_filter;
        bool debug_files; /* /usr/lib/debug/.build-id is there */
};

/* Reads the facts below the directory ROOT ("" for this machine). Unreadable files count
 * as absent. */
void machine_read(const char *root, struct machine *machine);
void machine_free(struct machine *machine);

/* Returns the PMU of the cores, on a hybrid CPU the PMU of the large cores; NULL: there
 * is none. */
const struct machine_pmu *machine_large_core_pmu(const struct machine *machine);

/* Queries the current CPU for facts that no file contains (CPUID leaves 0xA and 0x16,
 * SDM vol. 2). */
void machine_ask_cpu(struct machine *machine);

#endif
