/* SPDX-License-Identifier: MIT */
/* The events of Intel's CPUs by their use in memlag. make_intel_events.py generates the
 * facts in intel_events.inc; this file only looks them up. */
#ifndef MEMLAG_PERF_EVENT_TABLE_H
#define MEMLAG_PERF_EVENT_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum core_kind { CORE_P, CORE_E, CORE_UNCORE };

/* Each is a counter, except the first three. method.md describes how M17 uses them. */
enum event_role {
        ROLE_LOADS,        /* sampled by latency */
        ROLE_STORES,       /* sampled */
        ROLE_AUXILIARY,    /* must lead the group of ROLE_LOADS */
        ROLE_CYCLES,       /* unhalted */
        ROLE_INSTRUCTIONS, /* retired */
        ROLE_ALL_LOADS,    /* retired */
        ROLE_PENDING,      /* L1D misses outstanding, summed over cycles */
        ROLE_L1_MISS,      /* retired loads that missed L1D and hit no fill buffer */
        ROLE_FB_HIT,       /* retired loads that hit a fill buffer */
        ROLE_L1_MISS_ANY,  /* the sum of the two above */
        ROLE_FB_FULL,      /* waits for a free fill buffer */
        ROLE_SQ_FULL,      /* cycles with the queue to L3 full */
        ROLE_STALLS,       /* cycles without execution */
        ROLE_STALLS_L1D,   /* stall cycles with an L1D miss outstanding */
        ROLE_STALLS_L2,    /* stall cycles with an L2 miss outstanding */
        ROLE_STALLS_L3,    /* stall cycles with an L3 miss outstanding */
        ROLE_STORE_BUFFER, /* cycles stalled because the store buffer is full */
        ROLE_CANDIDATE,    /* a possible alternative to the above: to be validated */
        ROLE_DRAM_READ,    /* of 64 bytes, in a memory controller */
        ROLE_DRAM_WRITE,
        ROLE_COUNT
};

/* Bit 32 + n of an event's counters represents fixed counter n. */
#define EVENT_FIXED_SHIFT 32

struct event {
        const char *name;  /* Intel's, in lower case */
        uint64_t config;   /* event, umask, edge, inv, cmask: perf_event_attr.config */
        uint64_t counters; /* usable counters, one bit each; 0: any */
};

struct event_platform {
        const char *name;    /* Intel's short name, "SKX" */
        enum core_kind core; /* for a CPU whose cores are all alike */
};

/* Returns the platform of a CPU by its family, model and stepping; NULL: unknown. */
const struct event_platform *event_platform_find(int64_t family, int64_t model,
                                                 int64_t stepping);

/* Returns the event for ROLE on cores of kind CORE of PLATFORM (event_platform.name);
 * NULL when there is none. INDEX selects further events. Further core events are
 * alternatives that only a validation can select. Further events of a memory controller
 * must be added up. */
const struct event *event_find(const char *platform, enum core_kind core,
                               enum event_role role, size_t index);

/* General counters of each of the platform's cores with both hyper-threads on; 0 when not
 * known. */
unsigned event_counters(const char *platform, enum core_kind core);

/* Unit of a role's counts: "cycles", "events" or, for DRAM, "bytes". */
const char *event_role_unit(enum event_role role);

#endif
