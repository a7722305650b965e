/* SPDX-License-Identifier: MIT */
/* What a sample waited for, and what to say of a line or object whose samples
 * waited for several things. Every rule is in verdict.c, and in doc/method.md in
 * words. No database. */
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

/* Samples with these levels count as DRAM samples in the findings. */
bool level_is_dram(enum level level);

/* Where slow loads come from that ask for a line, and so the ones that find it on its
 * way. */
enum origin { ORIGIN_UNKNOWN, ORIGIN_DRAM, ORIGIN_CACHE, ORIGIN_SHARING, ORIGIN_REMOTE };
enum { ORIGIN_COUNT = ORIGIN_REMOTE + 1 };

/* The samples of one place that tell an origin, and their latency by origin. */
struct origins {
        int64_t samples;
        double latency_cycles[ORIGIN_COUNT];
        struct longest longest;
};

struct sample_facts {
        enum level level;
        enum origin line_origin; /* of lines on their way (LFB) at this place */
        bool tlb_missed;
        bool tlb_second;        /* its second level had the translation */
        bool unforwarded;       /* a store before it had only a part of its bytes */
        bool hit_modified;      /* snoop hitm: another core had the line modified */
        int64_t latency_cycles; /* -1: not known */
        int64_t retire_latency_cycles; /* -1: not known */
        int64_t stall_ns;              /* of a timer sample; 0: it is none */
        enum answer bandwidth_short;   /* in its interval */
        enum bound interval_bound;
        bool interval_lacks_buffers;
        bool interval_path_full; /* the one from L3 */
        bool without_waits;      /* of a model in which nothing waits for values */
};

/* Whether a load from LEVEL may have waited for DRAM. */
bool level_waits_for_dram(enum level level);

/* H19's hybrid method: in an interval that was short of bandwidth, a load that may have
 * waited for DRAM, for longer than an uncontended one does. */
enum answer sample_contended(const struct sample_facts *sample,
                             const struct thresholds *thresholds);

/* Where the line came from that a load asked for and waited for longer than any cache
 * takes; ORIGIN_UNKNOWN of every other sample. */
enum origin sample_origin(const struct sample_facts *sample,
                          const struct thresholds *thresholds);

/* A load that found its line on the way (LFB) and waited longer than any cache takes. */
bool sample_is_slow_buffer_hit(const struct sample_facts *sample,
                               const struct thresholds *thresholds);

void origins_add(struct origins *origins, enum origin origin, double latency_cycles);

/* The origin of lines on their way at a place with these samples, of which none counts
 * for more than longest.h says; ORIGIN_UNKNOWN when they are too few to tell, or none
 * took any time. */
enum origin place_origin(const struct origins *origins);

/* The same of a whole run's samples, for an interval; BUFFERS_FREE: its loads hardly ever
 * waited for a fill buffer. */
enum origin run_origin(const struct origins *origins, bool buffers_free);

/* What DRAM's traffic in an interval tells of the lines that loads waited for then:
 * ORIGIN_DRAM, ORIGIN_CACHE or ORIGIN_UNKNOWN. KNOWN: what the run counted. */
enum origin traffic_origin(const struct interval *interval,
                           const bool known[CONCEPT_COUNT],
                           const struct machine_facts *machine);

enum cause {
        CAUSE_STORE_FORWARDING,
        CAUSE_SHARING,
        CAUSE_REMOTE,
        CAUSE_CONTENTION,
        CAUSE_IN_CORE,
        CAUSE_DRAM,
        CAUSE_TLB,
        CAUSE_CACHE,
        CAUSE_UNKNOWN, /* a line on its way, and nothing tells where from */
        CAUSE_NONE,
        CAUSE_COUNT
};

/* The one thing that most of a sample's latency is put down to. */
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
        VERDICT_DRAM, /* as its bandwidth may have been short or not */
        VERDICT_TLB,
        VERDICT_PAGE_FAULTS,
        VERDICT_CACHE,
        VERDICT_UNKNOWN,
        VERDICT_NONE,
        VERDICT_TOO_FEW_SAMPLES,
        VERDICT_COUNT
};

struct verdict_facts {
        int64_t latencies; /* samples with a latency */
        double cause_latency_cycles[CAUSE_COUNT];
        /* The same of the latency of retirement: the part of it that held up what came
         * behind; and the number of equal samples that would tell the sum as well. */
        double cause_retire_cycles[CAUSE_COUNT];
        double stalls;
        /* Estimated latency of all its loads over the cycles of the run: as much
         * of the run as they can have cost. NAN when the period is not known. */
        double cost_ratio;
        /* Other work hides them: the range of what they stalled ends below the least
         * cost. */
        bool hidden;
        /* The part of the run's cycles for which its loads held up those behind them, by
         * cause as cause_retire_cycles, is this for each of these cycles; NAN likewise.
         */
        double cycle_ratio;
        double fault_ratio; /* of the run's cycles, in the kernel for its page faults */
        /* The part of CAUSE_DRAM's latencies in crowded intervals, and how many lines its
         * loads were asking DRAM for at a time in them, on the average of the whole run.
         */
        double crowded_latency_cycles;
        double crowded_retire_cycles;
        double crowded_overlap;
        /* Loads may have waited because DRAM was short of bandwidth, and of none of their
         * intervals it is known whether it was. */
        bool bandwidth_untold;
};

extern const int64_t VERDICT_SAMPLES_MIN;
extern const int64_t ORIGIN_SAMPLES_MIN;
extern const double VERDICT_COST_RATIO_MIN;
extern const double VERDICT_OVERLAP_MIN;

/* The sample's interval is bound in-core, and by the fill buffers or the places beyond
 * L2: loads that asked for lines then waited for DRAM as many at a time as the core can
 * have. */
bool sample_crowded(const struct sample_facts *sample);

enum verdict verdict_of(const struct verdict_facts *facts);

/* The name in the database. */
const char *verdict_name(enum verdict verdict);

#endif
