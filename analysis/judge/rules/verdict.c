/* SPDX-License-Identifier: MIT */
/* All rules of attribution: a sample's cause, and the verdict on the samples of a line or
 * object. doc/method.md explains the same rules. */
#include "verdict.h"

#include <math.h>
#include <string.h>

const int64_t VERDICT_SAMPLES_MIN = 20;
const double VERDICT_STALLS_MIN = 5;
const double VERDICT_COST_RATIO_MIN = 0.005;
/* A few samples without a stall leave a range of that size in a run of milliseconds. */
const double VERDICT_HIDDEN_RATIO_MAX = 0.02;
/* If none of so many loads stalled, fewer than a twentieth of all do (Wilson, 95 %). */
const int64_t VERDICT_UNSTALLED_MIN = 73;

/* Fewer samples than for a verdict suffice for an origin if they agree. */
const int64_t ORIGIN_SAMPLES_MIN = 5;
static const double ORIGIN_AGREEMENT = 0.9;

static const struct {
        const char *name;
        bool dram;           /* counted as a DRAM sample */
        bool waits_for_dram; /* its latency can include a wait for DRAM */
} levels[] = {
    [LEVEL_NA] = {"NA", false, false},
    [LEVEL_L1] = {"L1", false, false},
    [LEVEL_LFB] = {"LFB", false, true},
    [LEVEL_L2] = {"L2", false, false},
    [LEVEL_L3] = {"L3", false, false},
    [LEVEL_DRAM] = {"DRAM", true, true},
    [LEVEL_REMOTE_DRAM] = {"REMOTE_DRAM", true, true},
    [LEVEL_REMOTE_CACHE] = {"REMOTE_CACHE", false, false},
    [LEVEL_PMEM] = {"PMEM", false, true},
    [LEVEL_IO] = {"IO", false, false},
    [LEVEL_UNCACHED] = {"UNCACHED", false, false},
};

enum level level_named(const char *name)
{
        for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
                if (strcmp(levels[i].name, name) == 0)
                        return (enum level)i;
        return LEVEL_NA;
}

const char *level_name(enum level level)
{
        return levels[level].name;
}

bool level_is_dram(enum level level)
{
        return levels[level].dram;
}

bool level_waits_for_dram(enum level level)
{
        return levels[level].waits_for_dram;
}

/* DRAM cannot serve a load so fast: a prefetch requested the line, and came late. */
static bool is_late_prefetch(const struct sample_facts *sample,
                             const struct thresholds *thresholds)
{
        return level_is_dram(sample->level) &&
               sample->latency_cycles < thresholds->prefetched_latency_cycles;
}

/* ---- where lines on their way come from ---- */

static bool is_remote_level(enum level level)
{
        return level == LEVEL_REMOTE_DRAM || level == LEVEL_REMOTE_CACHE;
}

enum origin sample_origin(const struct sample_facts *sample,
                          const struct thresholds *thresholds)
{
        if (!(sample->latency_cycles > thresholds->cache_latency_cycles))
                return ORIGIN_UNKNOWN;
        if (sample->hit_modified)
                return ORIGIN_SHARING;
        if (is_remote_level(sample->level))
                return ORIGIN_REMOTE;
        if (sample->level == LEVEL_DRAM || sample->level == LEVEL_PMEM)
                return ORIGIN_DRAM;
        return sample->level == LEVEL_L2 || sample->level == LEVEL_L3 ? ORIGIN_CACHE
                                                                      : ORIGIN_UNKNOWN;
}

bool sample_is_slow_buffer_hit(const struct sample_facts *sample,
                               const struct thresholds *thresholds)
{
        return sample->level == LEVEL_LFB &&
               sample->latency_cycles > thresholds->cache_latency_cycles;
}

/* A prefetch or another load had requested the line from DRAM: the latency is the rest of
 * its way. */
static bool is_under_way(const struct sample_facts *sample,
                         const struct thresholds *thresholds)
{
        return sample_is_slow_buffer_hit(sample, thresholds) &&
               sample->line_origin == ORIGIN_DRAM;
}

enum answer sample_contended(const struct sample_facts *sample,
                             const struct thresholds *thresholds)
{
        if (!level_waits_for_dram(sample->level) || sample->latency_cycles < 0 ||
            (sample->latency_cycles <= thresholds->high_latency_cycles &&
             !is_late_prefetch(sample, thresholds) && !is_under_way(sample, thresholds)))
                return ANSWER_NO;
        return isnan(thresholds->high_latency_cycles) ? ANSWER_UNKNOWN
                                                      : sample->bandwidth_short;
}

void origins_add(struct origins *origins, enum origin origin, double latency_cycles)
{
        origins->samples++;
        origins->latency_cycles[origin] += latency_cycles;
        longest_add(&origins->longest, latency_cycles, (unsigned char)origin);
}

static double sum_of(const double latency_cycles[ORIGIN_COUNT])
{
        double sum = 0;
        for (int origin = ORIGIN_DRAM; origin < ORIGIN_COUNT; origin++)
                sum += latency_cycles[origin];
        return sum;
}

enum origin place_origin(const struct origins *origins)
{
        const struct longest *longest = &origins->longest;
        double cycles[ORIGIN_COUNT];
        memcpy(cycles, origins->latency_cycles, sizeof(cycles));
        double limit = longest_limit(longest, origins->samples, sum_of(cycles));
        for (int i = 0; i < LONGEST_COUNT && longest->cycles[i] > limit; i++)
                cycles[longest->label[i]] -= longest->cycles[i] - limit;
        enum origin greatest = ORIGIN_DRAM;
        for (int origin = ORIGIN_DRAM; origin < ORIGIN_COUNT; origin++)
                if (cycles[origin] > cycles[greatest])
                        greatest = (enum origin)origin;
        if (cycles[greatest] <= 0)
                return ORIGIN_UNKNOWN;
        bool agree = origins->samples >= ORIGIN_SAMPLES_MIN &&
                     cycles[greatest] >= ORIGIN_AGREEMENT * sum_of(cycles);
        return agree || origins->samples >= VERDICT_SAMPLES_MIN ? greatest
                                                                : ORIGIN_UNKNOWN;
}

/* Requests to a cache are slow only if they wait for buffers first. While buffers are
 * free, a cache is not the origin of a slow line. */
enum origin run_origin(const struct origins *origins, bool buffers_free)
{
        enum origin origin = place_origin(origins);
        return origin == ORIGIN_CACHE && buffers_free ? ORIGIN_UNKNOWN : origin;
}

/* Loads did not wait for DRAM if all its reads, waited for one by one, would stay below a
 * verdict's cost. They did if DRAM reads are at least half of the misses. */
enum origin traffic_origin(const struct interval *interval,
                           const bool known[CONCEPT_COUNT],
                           const struct machine_facts *machine)
{
        if (!known[CONCEPT_DRAM_READ])
                return ORIGIN_UNKNOWN;
        double lines = interval->gained[CONCEPT_DRAM_READ] / LINE_BYTES;
        if (known[CONCEPT_CYCLES] &&
            lines * machine->dram_latency_cycles <
                VERDICT_COST_RATIO_MIN * interval->gained[CONCEPT_CYCLES])
                return ORIGIN_CACHE;
        return known[CONCEPT_L1_MISS] && lines > 0 &&
                       lines >= interval->gained[CONCEPT_L1_MISS] / 2
                   ? ORIGIN_DRAM
                   : ORIGIN_UNKNOWN;
}

/* ---- a sample's cause: the first rule that holds ---- */

struct rule_input {
        const struct sample_facts *sample;
        const struct machine_facts *machine;
        const struct thresholds *thresholds;
};

/* A slow hit of a fill buffer waited for the same line as the requesting load. */
static bool is_slow_buffer_hit(const struct rule_input *in)
{
        return sample_is_slow_buffer_hit(in->sample, in->thresholds);
}

static bool is_store_forwarding(const struct rule_input *in)
{
        return in->sample->unforwarded;
}

static bool is_sharing(const struct rule_input *in)
{
        return in->sample->hit_modified ||
               (is_slow_buffer_hit(in) && in->sample->line_origin == ORIGIN_SHARING);
}

static bool is_remote(const struct rule_input *in)
{
        return is_remote_level(in->sample->level) ||
               (is_slow_buffer_hit(in) && in->sample->line_origin == ORIGIN_REMOTE);
}

static bool is_behind_l1(enum level level)
{
        return level == LEVEL_LFB || level == LEVEL_L2 || level == LEVEL_L3;
}

/* A load that missed the TLB may have waited for its translation instead. This holds in
 * an interval with another bound. It also holds if a cache had the line: page walkers
 * serve one or two pages at a time, fill buffers serve more lines. */
static bool may_be_translation(const struct sample_facts *sample)
{
        return sample->tlb_missed &&
               (sample->interval_bound != BOUND_IN_CORE || sample->level == LEVEL_L2 ||
                sample->level == LEVEL_L3);
}

/* A cache had the line, but the latency exceeds DRAM's while buffers were full: the load
 * first waited for a buffer. */
static bool is_late_for_a_buffer(const struct rule_input *in)
{
        return in->sample->interval_lacks_buffers && !may_be_translation(in->sample) &&
               is_behind_l1(in->sample->level) &&
               in->sample->latency_cycles > in->thresholds->high_latency_cycles;
}

/* Misses that crowd into few sets of L1 wait for each other, and hold the buffers for so
 * long. With other strides the lines would be in L1. */
static bool is_set_conflict(const struct rule_input *in)
{
        return in->sample->conflict_sets > 0 &&
               (in->sample->level == LEVEL_L2 || in->sample->level == LEVEL_L3);
}

/* If DRAM is short of bandwidth, the buffers are full of lines from DRAM. A load that
 * waits for a buffer then waits for DRAM, even if a cache has its line. */
static bool is_contention(const struct rule_input *in)
{
        return sample_contended(in->sample, in->thresholds) == ANSWER_YES ||
               (in->sample->bandwidth_short == ANSWER_YES && is_late_for_a_buffer(in) &&
                !is_set_conflict(in));
}

/* A fast hit of a fill buffer waited for a cache, not for DRAM. A slow hit also did, if
 * loads from that cache are slow because they wait for buffers. */
static bool is_line_of_dram(const struct rule_input *in)
{
        if (in->sample->level == LEVEL_LFB)
                return is_under_way(in->sample, in->thresholds);
        return level_waits_for_dram(in->sample->level);
}

static bool needs_a_buffer(const struct rule_input *in)
{
        const struct sample_facts *sample = in->sample;
        return !may_be_translation(sample) && !is_set_conflict(in) &&
               (is_behind_l1(sample->level) || level_waits_for_dram(sample->level));
}

/* While buffers are full, the requests of a function wait for each other: all have the
 * cause by whose removal they come soonest. CAUSE_NONE: not known. */
static enum cause cause_of_full_buffers(const struct rule_input *in)
{
        const struct sample_facts *sample = in->sample;
        const bool full = sample->interval_buffers_full &&
                          sample->bandwidth_short == ANSWER_NO && needs_a_buffer(in);
        return full && sample->full_cause ? sample->full_cause : CAUSE_NONE;
}

/* Nothing waits for a store's line from DRAM: the store stalls the program when the store
 * buffer is full. */
static bool fills_store_buffer(const struct rule_input *in)
{
        const struct sample_facts *sample = in->sample;
        return sample->store && !sample->locked && sample->bandwidth_short == ANSWER_NO &&
               is_line_of_dram(in);
}

/* H20's false positive: a latency above DRAM's while DRAM has bandwidth left. The load
 * first waited for a fill buffer. A line from DRAM needs a long latency: if the wait for
 * the buffer is the smaller part, the reorder window soon limits the loads instead. */
static bool is_late_for_any_buffer(const struct rule_input *in)
{
        const struct sample_facts *sample = in->sample;
        bool lacks_buffers =
            sample->interval_bound == BOUND_IN_CORE ||
            (sample->interval_lacks_buffers && sample->bandwidth_short == ANSWER_NO);
        return lacks_buffers &&
               sample->latency_cycles > (is_line_of_dram(in)
                                             ? in->thresholds->queued_latency_cycles
                                             : in->thresholds->high_latency_cycles);
}

static bool waits_for_buffers(const struct rule_input *in)
{
        const bool stores = fills_store_buffer(in);
        const enum cause full = cause_of_full_buffers(in);
        if (full != CAUSE_NONE && !stores)
                return full == CAUSE_IN_CORE;
        return needs_a_buffer(in) && (stores || is_late_for_any_buffer(in));
}

static bool waits_behind_dram(const struct rule_input *in)
{
        return cause_of_full_buffers(in) == CAUSE_DRAM;
}

static bool waits_behind_caches(const struct rule_input *in)
{
        return cause_of_full_buffers(in) == CAUSE_CACHE;
}

static bool is_unknown(const struct rule_input *in)
{
        return is_slow_buffer_hit(in) && in->sample->line_origin == ORIGIN_UNKNOWN;
}

/* The idle latency of a cache; zero if the machine does not have it. */
static double cache_latency(const struct machine_facts *machine, enum level level)
{
        double cycles = level == LEVEL_L1   ? machine->l1d_latency_cycles
                        : level == LEVEL_L2 ? machine->l2_latency_cycles
                        : level == LEVEL_L3 ? machine->l3_latency_cycles
                                            : 0;
        return isnan(cycles) ? 0 : cycles;
}

double sample_sets_per_walk(const struct sample_facts *sample, enum level level,
                            const struct machine_facts *machine)
{
        const double interval = level == LEVEL_L2 ? machine->l1d_set_interval_l2_cycles
                                                  : machine->l1d_set_interval_l3_cycles;
        return sample->conflict_sets > 0
                   ? interval / (double)sample->conflict_sets /
                         (machine->page_walk_cycles / machine->page_walkers)
                   : 0;
}

/* The load queued for its set for longer than walk and line take, and walkers would have
 * served more loads. */
static bool is_late_for_its_set(const struct rule_input *in)
{
        const enum level level = in->sample->level;
        return is_set_conflict(in) &&
               sample_sets_per_walk(in->sample, level, in->machine) > 1 &&
               (double)in->sample->latency_cycles >
                   2 * (cache_latency(in->machine, level) +
                        in->machine->page_walk_cycles);
}

/* A cache served the load, but the translation took more than half of the latency.
 * Without simulated waits, walks queue as in a stream: a walk takes longer than L1 or L2,
 * and less than deeper levels. The second-level TLB is faster than L2 and has no queue:
 * it can be the larger part only for L1 hits. */
static bool is_tlb(const struct rule_input *in)
{
        enum level level = in->sample->level;
        bool near = level == LEVEL_L1 || level == LEVEL_L2;
        return (in->sample->tlb_missed ||
                (in->sample->tlb_second && level == LEVEL_L1)) &&
               !is_late_for_its_set(in) &&
               (near || (is_behind_l1(level) && !in->sample->without_waits)) &&
               (double)in->sample->latency_cycles > 2 * cache_latency(in->machine, level);
}

static bool is_cache(const struct rule_input *in)
{
        return is_behind_l1(in->sample->level);
}

/* Its line is in L1: it waits for the accesses before it. */
static bool is_locked(const struct rule_input *in)
{
        return in->sample->locked && in->sample->level == LEVEL_L1;
}

enum cause sample_cause(const struct sample_facts *sample,
                        const struct machine_facts *machine,
                        const struct thresholds *thresholds)
{
        static const struct {
                enum cause cause;
                bool (*holds)(const struct rule_input *in);
        } rules[] = {
            {CAUSE_STORE_FORWARDING, is_store_forwarding},
            {CAUSE_SHARING, is_sharing},
            {CAUSE_REMOTE, is_remote},
            {CAUSE_CONTENTION, is_contention},
            {CAUSE_IN_CORE, waits_for_buffers},
            {CAUSE_DRAM, waits_behind_dram},
            {CAUSE_CACHE, waits_behind_caches},
            {CAUSE_DRAM, is_line_of_dram},
            {CAUSE_UNKNOWN, is_unknown},
            {CAUSE_TLB, is_tlb},
            {CAUSE_CACHE, is_cache},
            {CAUSE_LOCKED, is_locked},
        };
        struct rule_input in = {sample, machine, thresholds};
        for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
                if (rules[i].holds(&in))
                        return rules[i].cause;
        return CAUSE_NONE;
}

/* ---- the verdict on many samples ---- */

enum verdict verdict_of_cause(enum cause cause)
{
        static const enum verdict verdicts[] = {
            [CAUSE_STORE_FORWARDING] = VERDICT_STORE_FORWARDING,
            [CAUSE_SHARING] = VERDICT_SHARING,
            [CAUSE_REMOTE] = VERDICT_REMOTE_MEMORY,
            [CAUSE_CONTENTION] = VERDICT_DRAM_CONTENTION,
            [CAUSE_IN_CORE] = VERDICT_IN_CORE,
            [CAUSE_DRAM] = VERDICT_DRAM_LATENCY,
            [CAUSE_TLB] = VERDICT_TLB,
            [CAUSE_CACHE] = VERDICT_CACHE,
            [CAUSE_LOCKED] = VERDICT_LOCKED,
            [CAUSE_UNKNOWN] = VERDICT_UNKNOWN,
            [CAUSE_NONE] = VERDICT_NONE,
        };
        return verdicts[cause];
}

/* The cause with the most cycles; among equal causes the first of enum cause. */
static enum cause greatest_cause(const double cycles[CAUSE_COUNT])
{
        enum cause greatest = 0;
        for (int c = 1; c < CAUSE_COUNT; c++)
                if (cycles[c] > cycles[greatest])
                        greatest = (enum cause)c;
        return greatest;
}

/* Share of the run's cycles that the loads of the costliest cause stalled. */
static double greatest_stall(const struct verdict_facts *facts)
{
        return facts->cause_retire_cycles[greatest_cause(facts->cause_retire_cycles)] *
               facts->cycle_ratio;
}

bool verdict_by_stalls(const struct verdict_facts *facts)
{
        return facts->stalls >= VERDICT_STALLS_MIN;
}

static enum verdict verdict_of_loads(const struct verdict_facts *facts)
{
        if (facts->latencies < VERDICT_SAMPLES_MIN)
                return VERDICT_TOO_FEW_SAMPLES;
        if (facts->cost_ratio < VERDICT_COST_RATIO_MIN ||
            (facts->stalls_known && greatest_stall(facts) < VERDICT_COST_RATIO_MIN))
                return VERDICT_NONE;
        enum verdict verdict = verdict_of_cause(
            greatest_cause(verdict_by_stalls(facts) ? facts->cause_retire_cycles
                                                    : facts->cause_latency_cycles));
        return verdict == VERDICT_DRAM_LATENCY && facts->bandwidth_untold ? VERDICT_DRAM
                                                                          : verdict;
}

/* Page faults are counted, not sampled: they need no minimum number of samples. Their
 * time is a share of the run's cycles, as the stall time of loads is. */
static bool faults_prevail(const struct verdict_facts *facts)
{
        return facts->fault_ratio >= VERDICT_COST_RATIO_MIN &&
               !(facts->fault_ratio <= greatest_stall(facts));
}

enum verdict verdict_of(const struct verdict_facts *facts)
{
        return faults_prevail(facts) ? VERDICT_PAGE_FAULTS : verdict_of_loads(facts);
}

const char *verdict_name(enum verdict verdict)
{
        static const char *const names[VERDICT_COUNT] = {
            [VERDICT_STORE_FORWARDING] = "store-forwarding",
            [VERDICT_SHARING] = "sharing",
            [VERDICT_REMOTE_MEMORY] = "remote-memory",
            [VERDICT_DRAM_CONTENTION] = "dram-contention",
            [VERDICT_IN_CORE] = "in-core",
            [VERDICT_DRAM_LATENCY] = "dram-latency",
            [VERDICT_DRAM] = "dram",
            [VERDICT_TLB] = "tlb",
            [VERDICT_PAGE_FAULTS] = "page-faults",
            [VERDICT_CACHE] = "cache",
            [VERDICT_LOCKED] = "locked",
            [VERDICT_UNKNOWN] = "unknown",
            [VERDICT_NONE] = "none",
            [VERDICT_TOO_FEW_SAMPLES] = "too-few-samples",
        };
        return names[verdict];
}
