/* SPDX-License-Identifier: MIT */
/* The cause of a sample's latency, and the verdict on a line or object whose samples have
 * several causes. verdict.c holds every rule; doc/method.md explains them. No database.
 */
#ifndef MEMLAG_VERDICT_H
#define MEMLAG_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "contention.h"
#include "longest.h"

enum level {
        LEVEL_NA,
        LEVEL_L1,
        LEVEL_LFB,
        LEVEL_L2,
        LEVEL_L3,
        LEVEL_DRAM,
        LEVEL_REMOTE_DRAM,
        LEVEL_REMOTE_CACHE,
        LEVEL_PMEM,
        LEVEL_IO,
        LEVEL_UNCACHED
};

/* The name in the database. */
const char *level_name(enum level level);

/* The level called NAME; LEVEL_NA for any other name. */
enum level level_named(const char *name);

/* Whether samples of this level count as DRAM samples in the findings. */
bool level_is_dram(enum level level);

/* The origin of slow cache lines: the level that serves the requesting load, and so also
 * the loads that hit its fill buffer. */
enum origin { ORIGIN_UNKNOWN, ORIGIN_DRAM, ORIGIN_CACHE, ORIGIN_SHARING, ORIGIN_REMOTE };
enum { ORIGIN_COUNT = ORIGIN_REMOTE + 1 };

/* Samples of one place with a known origin, and their latency by origin. */
struct origins {
        int64_t samples;
        double latency_cycles[ORIGIN_COUNT];
        struct longest longest;
};

enum cause {
        CAUSE_STORE_FORWARDING,
        CAUSE_SHARING,
        CAUSE_REMOTE,
        CAUSE_CONTENTION,
        CAUSE_IN_CORE,
        CAUSE_DRAM,
        CAUSE_TLB,
        CAUSE_CACHE,
        CAUSE_LOCKED,
        CAUSE_UNKNOWN, /* an outstanding line of unknown origin */
        CAUSE_NONE,
        CAUSE_COUNT
};

struct sample_facts {
        enum level level;
        enum origin line_origin; /* of outstanding lines (LFB) at this place */
        bool tlb_missed;
        bool tlb_second;   /* the second TLB level had the translation */
        bool unforwarded;  /* an earlier store held only part of its bytes */
        bool locked;       /* a locked instruction */
        bool hit_modified; /* snoop hitm: another core had the line modified */
        bool store;
        int64_t conflict_sets;  /* of L1, into which its misses crowd; 0: not into few */
        int64_t latency_cycles; /* -1: not known */
        int64_t retire_latency_cycles; /* -1: not known */
        int64_t stall_ns;              /* of a timer sample; 0: no timer sample */
        enum answer bandwidth_short;   /* in its interval */
        enum bound interval_bound;
        bool interval_lacks_buffers;
        bool interval_buffers_full;
        bool interval_sets_crowd;
        bool interval_path_full; /* the path from L3 */
        enum cause full_cause;   /* buffer_use_cause of its function, buffers.h */
        double
            bandwidth_use;  /* the used part of DRAM's, in its interval; NAN: not known */
        bool without_waits; /* from a model without waits for values */
};

/* How many times as long the few sets of L1 take for a line from LEVEL as the walkers for
 * a walk. 0 or NAN: not into few sets, or not known. */
double sample_sets_per_walk(const struct sample_facts *sample, enum level level,
                            const struct machine_facts *machine);

/* Whether a load from LEVEL may have waited for DRAM. */
bool level_waits_for_dram(enum level level);

/* H19's hybrid method: the interval was short of bandwidth, and the load may have waited
 * for DRAM longer than an uncontended load, or for a prefetch that came late. */
enum answer sample_contended(const struct sample_facts *sample,
                             const struct thresholds *thresholds);

/* The origin of the cache line that a slow load requested; slow: longer than any cache
 * takes. ORIGIN_UNKNOWN for every other sample. */
enum origin sample_origin(const struct sample_facts *sample,
                          const struct thresholds *thresholds);

/* Whether a load hit a fill buffer (LFB) and waited longer than any cache takes. */
bool sample_is_slow_buffer_hit(const struct sample_facts *sample,
                               const struct thresholds *thresholds);

void origins_add(struct origins *origins, enum origin origin, double latency_cycles);

/* The origin of outstanding lines at a place with these samples; longest.h limits each
 * sample. ORIGIN_UNKNOWN for too few samples, or samples without latency. */
enum origin place_origin(const struct origins *origins);

/* The origin from a whole run's samples, for one interval. BUFFERS_FREE: its loads hardly
 * ever waited for a fill buffer. */
enum origin run_origin(const struct origins *origins, bool buffers_free);

/* The origin that the interval's DRAM traffic suggests for awaited lines: ORIGIN_DRAM,
 * ORIGIN_CACHE or ORIGIN_UNKNOWN. KNOWN: the counted concepts. */
enum origin traffic_origin(const struct interval *interval,
                           const bool known[CONCEPT_COUNT],
                           const struct machine_facts *machine);

/* The single cause of most of a sample's latency. */
enum cause sample_cause(const struct sample_facts *sample,
                        const struct machine_facts *machine,
                        const struct thresholds *thresholds);

enum verdict {
        VERDICT_STORE_FORWARDING,
        VERDICT_SHARING,
        VERDICT_REMOTE_MEMORY,
        VERDICT_DRAM_CONTENTION,
        VERDICT_IN_CORE,
        VERDICT_DRAM_LATENCY,
        VERDICT_DRAM, /* the bandwidth may have been short */
        VERDICT_TLB,
        VERDICT_PAGE_FAULTS,
        VERDICT_CACHE,
        VERDICT_LOCKED,
        VERDICT_UNKNOWN,
        VERDICT_NONE,
        VERDICT_TOO_FEW_SAMPLES,
        VERDICT_COUNT
};

struct verdict_facts {
        int64_t latencies; /* samples with a latency */
        double cause_latency_cycles[CAUSE_COUNT];
        /* cause_retire_cycles: stall time by cause. stalls: effective number of samples,
         * that is equal samples with the same precision of the sum. */
        double cause_retire_cycles[CAUSE_COUNT];
        double stalls;
        /* Estimated latency of all loads over the run's cycles: the upper limit of their
         * cost. NAN if the period is not known. */
        double cost_ratio;
        /* Each sample has its stall time. If no load stalled, the samples are many enough
         * to show that few loads do. */
        bool stalls_known;
        /* The range of its share of the cycles does not end below
         * VERDICT_HIDDEN_RATIO_MAX. */
        bool may_stall;
        /* Share of the run's cycles per cycle of cause_retire_cycles; NAN if not known.
         */
        double cycle_ratio;
        double fault_ratio; /* share of the run's cycles in the kernel for page faults */
        /* Loads may have waited for DRAM bandwidth. For most of them, contention in
         * their interval is not known. */
        bool bandwidth_untold;
};

extern const int64_t VERDICT_SAMPLES_MIN;
extern const int64_t ORIGIN_SAMPLES_MIN;
extern const double VERDICT_STALLS_MIN;
extern const double VERDICT_COST_RATIO_MIN;
extern const double VERDICT_HIDDEN_RATIO_MAX;
extern const int64_t VERDICT_UNSTALLED_MIN;

enum verdict verdict_of(const struct verdict_facts *facts);

/* Whether stall time decides between the causes. It shows the costly loads, while the
 * latencies of parallel loads overlap. With too few stalls, latency replaces it. */
bool verdict_by_stalls(const struct verdict_facts *facts);

/* The verdict on samples that all have CAUSE. */
enum verdict verdict_of_cause(enum cause cause);

/* The name in the database. */
const char *verdict_name(enum verdict verdict);

#endif
