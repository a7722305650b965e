/* SPDX-License-Identifier: MIT */
/* Measures a machine, part by part. Each part returns what it found as JSON (the words of
 * doc/memlag-calibrate.md), or NULL with a message. */
#ifndef MEMLAG_SURVEY_H
#define MEMLAG_SURVEY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "estimate.h"
#include "loaded.h"
#include "measure.h"
#include "point_counters.h"

struct survey {
        struct cpu_list cpus;
        uint64_t memory_bytes; /* that may be used */
        uint64_t data_bytes;   /* a size at which no cache matters, if memory allows */
        double round_seconds;  /* of one timing */
        size_t rounds_min;
        size_t rounds_max;
        double error_aim;        /* rounds end when estimate_error is below */
        double estimate_seconds; /* or after this time, however noisy the machine */
        double end_seconds;      /* by clock_seconds: from then on, few rounds for each */
        bool quick;              /* fewer points */
        bool progress;           /* told on stderr */
        const struct point_events *events; /* for the LMRL; NULL: not counted */

        double core_ghz;
        double idle_ns;     /* of memory */
        double worst_error; /* of all estimates */
        uint64_t disturbed; /* rounds that the kernel interrupted */
        uint64_t rounds;    /* all of them */
        uint64_t hurried;   /* estimates with fewer rounds than wanted, or left out: see
                               end_seconds */
};

/* The data size for a machine where MEMORY_BYTES may be used. */
uint64_t survey_data_bytes(uint64_t memory_bytes);

/* The clocks: {"tsc_ghz", "core_ghz", "error"}; sets core_ghz. */
json_t *survey_clocks(struct survey *survey, struct diag *diag);

/* Latency over size: {"curve": [{"size_bytes", "ns", "error"}], "levels": [...]}. */
json_t *survey_caches(struct survey *survey, struct diag *diag);

/* Latency over pages touched, and the reach of each level of the TLB. */
json_t *survey_tlb(struct survey *survey, struct diag *diag);

/* Idle latency of each NUMA node's memory; sets idle_ns to the fastest. */
json_t *survey_memory(struct survey *survey, struct diag *diag);

/* What the core can have at once: {"issue_width"} by instructions a cycle that depend on
 * nothing, {"outstanding_misses"} by random independent loads of memory. After memory. */
json_t *survey_core(struct survey *survey, struct diag *diag);

/* Reads and writes over the number of threads, peaks, and what saturates; what one thread
 * reads from each cache: {"levels": [{"level", "size_bytes", "read_gbs", "error"}]}. */
json_t *survey_bandwidth(struct survey *survey, struct diag *diag);

/* Latency beside a load of growing bandwidth, and its knee. */
json_t *survey_loaded(struct survey *survey, struct diag *diag);

/* ---- for the parts ------------------------------------------------------------------
 */

/* Times rounds of the chase until the estimate is good enough. */
struct estimate survey_chase(struct survey *survey, struct chase *chase);

/* Whether the time is up. What is measured then is counted as hurried. */
bool survey_hurries(struct survey *survey);

/* Says on a terminal what is being done. */
void survey_progress(const struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes of the last cache as the system tells, 0 if it does not; and of each level. */
uint64_t reported_cache_bytes(unsigned level);
unsigned reported_cache_ways(unsigned level);

#endif
