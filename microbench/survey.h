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
#include "point_samples.h"

struct survey {
        struct cpu_list cpus;
        uint64_t memory_bytes; /* that may be used */
        uint64_t data_bytes;   /* a size at which no cache matters, if memory allows */
        double round_seconds;  /* of one timing */
        size_t rounds_max;
        double error_aim;        /* rounds end when estimate_error is below */
        double estimate_seconds; /* or after this time, however noisy the machine */
        double end_seconds;      /* by clock_seconds: from then on, few rounds for each */
        bool quick;              /* fewer points */
        bool progress;           /* told on stderr */
        const struct point_events *events;  /* for the LMRL; NULL: not counted */
        const struct sample_event *samples; /* for the sampling latency; NULL: none */

        double core_ghz;
        double idle_ns;     /* of memory */
        double worst_error; /* of all figures of the result */
        uint64_t rounds;    /* of all estimates */
        uint64_t disturbed; /* of these, during which something else was at work */
        uint64_t estimates;
        uint64_t unclean; /* estimates that had too few undisturbed rounds */
        uint64_t hurried; /* estimates with fewer rounds than wanted, or left out: see
                             end_seconds */
};

/* The least memory that can be measured with. */
#define SURVEY_MEMORY_MIN (UINT64_C(64) << 20)

/* The data size for a machine where MEMORY_BYTES may be used; UINT64_MAX: all that the
 * caches ask for. */
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
 * reads and writes in each cache: {"levels": [{"level", "size_bytes", "read_gbs", ...}]}.
 */
json_t *survey_bandwidth(struct survey *survey, struct diag *diag);

/* Latency beside a load of growing bandwidth, and its knee. */
json_t *survey_loaded(struct survey *survey, struct diag *diag);

/* ---- for the parts ------------------------------------------------------------------
 */

/* Times some rounds of the chase beside LOAD (NULL: alone), for about a tick of the
 * kernel's clock, and adds them to SERIES. The chase is on the first CPU. */
void survey_visit(struct survey *survey, struct chase *chase, const struct load *load,
                  struct series *series);

/* What SERIES says, which must not be empty. */
struct estimate survey_estimate(struct survey *survey, const struct series *series);

/* The same of what disturbances can only make longer: where all rounds were disturbed,
 * the shortest is the nearest to the truth. Not so beside a load, which may be disturbed
 * too. */
struct estimate survey_shortest(struct survey *survey, const struct series *series);

/* Tells the error of a figure of the result. Sizes between two levels of the caches are
 * none: their latency is that of the one or the other, as it happens. */
void survey_noise(struct survey *survey, double error);

/* Visits COUNT chases in turns, VISITS_MIN times each or more, until each estimate is
 * good enough: what disturbs the machine for a while is then in some rounds of each, and
 * not in all of one. */
int survey_chases(struct survey *survey, struct chase *chases, size_t count,
                  size_t visits_min, struct estimate *estimates, struct diag *diag);

/* Adds the time of each of COUNT rounds of KERNEL, in ns for each of its UNITS (accesses
 * of a thread, bytes, ...), to SERIES. */
int survey_rounds(struct survey *survey, const struct kernel *kernel,
                  const struct kernel_parameters *parameters, size_t count, double units,
                  struct series *series, struct diag *diag);

/* Whether the time is up. What is measured then has few rounds, and is to be counted as
 * hurried. */
bool survey_is_late(const struct survey *survey);

/* Says on a terminal what is being done. */
void survey_progress(const struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes of the last cache as the system tells, 0 if it does not; and of each level. */
uint64_t reported_cache_bytes(unsigned level);
unsigned reported_cache_ways(unsigned level);

#endif
